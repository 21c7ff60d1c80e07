internal import HTTPTypes
package import IdentityCore
internal import OAuthWire
package import ServerHTTP

extension Endpoint {
    /// Returns all endpoints whose responses are pages.
    package static func pages(_ engine: Engine, _ pages: PageWriter) -> [Endpoint] {
        [authorize(engine, pages), logout(engine, pages), activate(engine, pages), enrollHere(engine, pages)]
            + signIn(engine, pages) + recovery(engine, pages)
    }

    /// Creates the endpoint of a page. It counts the request against the limit of its address.
    init(
        page path: RoutePath, methods: [HTTPRequest.Method], _ engine: Engine, _ pages: PageWriter,
        admits: @escaping Admission = Endpoint.areShort, respond: @escaping @Sendable (Call) async throws -> ServerResponse
    ) {
        self.init(path, methods: methods, isCrossOrigin: false, admits: admits) { call in
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
            guard limit.isAdmitted else { return pages.refusal(HostedRefusal(tooMany: limit), to: call) }
            return try await respond(call)
        }
    }
}

extension ServerRequest {
    /// The form of the body; `nil` if it is too large, of another type, or malformed.
    var form: FormParameters? {
        guard ProtocolForm.isForm(head.headerFields[.contentType]), !isTooLarge else { return nil }
        return try? FormParameters(parsing: body)
    }
}
