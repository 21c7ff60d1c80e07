/// What a sign-in is for: which application asks, where, for what, and what the client can do next.
public struct SignInRequest: Sendable {
    /// The application that the person signs in to.
    public var application: Application
    /// The authorization server's id; nil for the org server.
    public var server: String?
    /// The scopes that the tokens will have.
    public var scopes: [String]
    /// The grants that the client says it can perform next (`grant_types_supported`); nil if it did not say.
    public var supportedGrantTypes: [String]?
    /// The authentication contexts asked for (`acr_values`), in order of preference; unknown ones are ignored.
    public var contextClasses: [String]

    /// Whether the person signs in on the hosted pages or by the classic API, where any factor of theirs can be presented, whatever
    /// grants the client has.
    var isHosted = false
    /// Whether it is on the hosted pages, where who has no second factor can set one up.
    var isOnPages = false

    /// Describes what a sign-in is for.
    public init(
        application: Application, server: String?, scopes: [String], supportedGrantTypes: [String]? = nil, contextClasses: [String] = []
    ) {
        self.application = application
        self.server = server
        self.scopes = scopes
        self.supportedGrantTypes = supportedGrantTypes
        self.contextClasses = contextClasses
    }
}

extension SignInRequest {
    /// What a request of direct authentication asks of a sign-in.
    init(_ request: AdmittedRequest, scopes: [String]) {
        self.init(
            application: request.application, server: request.server.id, scopes: scopes,
            supportedGrantTypes: request["grant_types_supported"]?.spaceSeparated,
            contextClasses: request["acr_values"]?.spaceSeparated ?? [])
    }
}
