package import HTTPTypes
package import IdentityCore

/// One thing that the server answers: its methods, who may call it from a browser, and what it does.
package struct Endpoint: Sendable {
    /// What an endpoint is given.
    package struct Call: Sendable {
        /// The request.
        package var request: ServerRequest
        /// The organization's configuration that the request is answered by.
        package var snapshot: OrgSnapshot
        /// The authorization server that was asked.
        package var server: AuthorizationServerDefinition
        /// Sends what the answer causes.
        package var courier: any Courier

        package init(
            request: ServerRequest, snapshot: OrgSnapshot, server: AuthorizationServerDefinition, courier: any Courier
        ) {
            self.request = request
            self.snapshot = snapshot
            self.server = server
            self.courier = courier
        }
    }

    /// A short name for logs and metrics.
    package var name: String
    /// The methods that do something; `GET` brings `HEAD` with it.
    package var methods: [HTTPRequest.Method]
    /// Whether pages of other origins may call it (with `OPTIONS` beforehand).
    package var isCrossOrigin: Bool
    /// Which of those pages may read what it answers.
    package var readers = CrossOrigin.Readers.anyOrigin
    /// What it does.
    package var respond: @Sendable (Call) async throws -> ServerResponse

    package init(
        name: String, methods: [HTTPRequest.Method], isCrossOrigin: Bool, readers: CrossOrigin.Readers = .anyOrigin,
        respond: @escaping @Sendable (Call) async throws -> ServerResponse
    ) {
        self.name = name
        self.methods = methods
        self.isCrossOrigin = isCrossOrigin
        self.readers = readers
        self.respond = respond
    }

    /// The `Allow` header, and what preflight answers announce.
    package var allow: String {
        var names = methods.map(\.rawValue)
        if methods.contains(.get) { names.append("HEAD") }
        if isCrossOrigin { names.append("OPTIONS") }
        return names.joined(separator: ", ")
    }

    /// Whether a request's method is one of these.
    package func accepts(_ method: HTTPRequest.Method) -> Bool {
        methods.contains(method) || (method == .head && methods.contains(.get))
    }
}

/// Sends pushes, mails, texts and logout tokens after the request that causes them is committed. Each call returns at once.
package protocol Courier: Sendable {
    func deliver(_ pushes: [PushMessage])
    /// Links in the messages begin with the organization's origin.
    func deliver(_ messages: [OutgoingMessage], origin: String)
    func deliver(_ logouts: [BackchannelLogout])
}
