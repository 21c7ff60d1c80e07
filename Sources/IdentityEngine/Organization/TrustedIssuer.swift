public import JOSE

/// Somebody else whose word an authorization server takes for who a person is (RFC 7523 section 2.1).
public struct TrustedIssuer: Sendable, Equatable, Codable {
    /// The `iss` of its assertions, compared exactly.
    public var issuer: String
    /// Its public keys.
    public var keys: JSONWebKeySet
    /// The clients that may bring its assertions; nil for any that has the grant.
    public var clients: [String]?

    /// Trusts an issuer.
    public init(issuer: String, keys: JSONWebKeySet, clients: [String]? = nil) {
        self.issuer = issuer
        self.keys = keys
        self.clients = clients
    }
}
