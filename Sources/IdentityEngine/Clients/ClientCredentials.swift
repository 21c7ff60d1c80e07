public import JOSE

/// How a client said who it is: what one request carried, not yet checked (RFC 6749 section 2.3, RFC 7523 section 2.2).
public struct ClientCredentials: Sendable {
    /// The `client_id` parameter.
    public var clientID: String?
    /// The `client_secret` parameter.
    public var secret: String?
    /// The user name and password of an `Authorization: Basic` header, form-decoded.
    public var basic: (clientID: String, secret: String)?
    /// The `client_assertion_type` parameter.
    public var assertionType: String?
    /// The `client_assertion` parameter.
    public var assertion: String?
    /// The URL of the endpoint that was called, the `aud` of an assertion.
    public var endpoint: String

    /// Collects what a request carried.
    public init(
        clientID: String? = nil, secret: String? = nil, basic: (clientID: String, secret: String)? = nil,
        assertionType: String? = nil, assertion: String? = nil, endpoint: String
    ) {
        self.clientID = clientID
        self.secret = secret
        self.basic = basic
        self.assertionType = assertionType
        self.assertion = assertion
        self.endpoint = endpoint
    }
}

extension ClientCredentials: Redacted {
    /// Which client it names; never its credentials.
    public var description: String { "ClientCredentials(client: \(clientID ?? basic?.clientID ?? "none"))" }
}
