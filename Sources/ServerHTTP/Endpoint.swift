package import HTTPTypes
package import IdentityCore

/// One HTTP endpoint: its path, its methods, its cross-origin policy and its handler.
package struct Endpoint: Sendable {
    /// The input of an endpoint's handler.
    package struct Call: Sendable {
        package var request: ServerRequest
        package var snapshot: OrgSnapshot
        package var server: AuthorizationServerDefinition
        /// The values of the path's parameters, not decoded.
        package var parameters: [Substring]

        package init(
            request: ServerRequest, snapshot: OrgSnapshot, server: AuthorizationServerDefinition, parameters: [Substring]
        ) {
            (self.request, self.snapshot, self.server, self.parameters) = (request, snapshot, server, parameters)
        }

        /// Returns a parameter of the path; the empty string if the path has fewer.
        package func parameter(_ index: Int) -> String { parameters.indices.contains(index) ? String(parameters[index]) : "" }
    }

    package var path: RoutePath
    /// Further paths of the same endpoint.
    package var otherPaths: [RoutePath]
    /// The supported methods; `GET` includes `HEAD`.
    package var methods: [HTTPRequest.Method]
    /// Whether pages of other origins may call the endpoint, after a preflight request.
    package var isCrossOrigin: Bool
    /// The origins whose pages may read the endpoint's responses.
    package var readers: CrossOrigin.Readers
    /// Returns whether the endpoint exists for these parameters of the path.
    package var admits: Admission
    package var respond: @Sendable (Call) async throws -> ServerResponse

    package typealias Admission = @Sendable (_ parameters: [Substring]) -> Bool

    package init(
        _ path: RoutePath, otherPaths: [RoutePath] = [], methods: [HTTPRequest.Method], isCrossOrigin: Bool,
        readers: CrossOrigin.Readers = .anyOrigin, admits: @escaping Admission = Endpoint.areShort,
        respond: @escaping @Sendable (Call) async throws -> ServerResponse
    ) {
        (self.path, self.otherPaths, self.admits, self.methods, self.isCrossOrigin) = (path, otherPaths, admits, methods, isCrossOrigin)
        (self.readers, self.respond) = (readers, respond)
    }

    /// Returns whether each parameter has 1 to 100 bytes; the default of ``admits``.
    @Sendable package static func areShort(_ parameters: [Substring]) -> Bool {
        parameters.allSatisfy { (1...100).contains($0.utf8.count) }
    }

    /// The value of the `Allow` header.
    package var allow: String {
        var names = methods.map(\.rawValue)
        if methods.contains(.get) { names.append("HEAD") }
        if isCrossOrigin { names.append("OPTIONS") }
        return names.joined(separator: ", ")
    }

    package func accepts(_ method: HTTPRequest.Method) -> Bool {
        methods.contains(method) || (method == .head && methods.contains(.get))
    }
}
