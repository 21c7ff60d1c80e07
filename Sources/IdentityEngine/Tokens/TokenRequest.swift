public import JOSE

/// A request to the token endpoint (RFC 6749 section 3.2), its parameters not yet checked.
public struct TokenRequest: Sendable {
    /// The authorization server's id; nil for the org server.
    public var server: String?
    /// Who the client says it is.
    public var client: ClientCredentials
    /// Every form parameter, each at most once (the front door refuses repeated ones).
    public var parameters: [String: String]
    /// What shows that the client has a key; nil for a request without a `DPoP` header.
    public var proof: PresentedProof?

    /// Describes a request.
    public init(server: String?, client: ClientCredentials, parameters: [String: String], proof: PresentedProof? = nil) {
        self.server = server
        self.client = client
        self.parameters = parameters
        self.proof = proof
    }
}

/// A successful answer of the token endpoint (RFC 6749 section 5.1).
public struct TokenResponse: Sendable {
    /// `Bearer`, or `DPoP`.
    public var tokenType: String
    /// Seconds.
    public var expiresIn: Int
    /// The access token.
    public var accessToken: String
    /// What was granted, in the order asked for.
    public var scopes: [String]
    /// Present if `offline_access` was granted.
    public var refreshToken: String?
    /// Present if `openid` was granted.
    public var idToken: String?
    /// The secret that the apps of the device share; present if `device_sso` was granted.
    public var deviceSecret: String?
    /// What the access token is, in answer to a token exchange (RFC 8693 section 2.2.1); nil in all others.
    public var issuedTokenType: String?
    /// The nonce that the client's next proof should carry, for the header `DPoP-Nonce`; nil if it knows.
    public var nextNonce: String?

    /// Makes an answer.
    public init(
        tokenType: String = "Bearer", expiresIn: Int, accessToken: String, scopes: [String], refreshToken: String? = nil,
        idToken: String? = nil
    ) {
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.accessToken = accessToken
        self.scopes = scopes
        self.refreshToken = refreshToken
        self.idToken = idToken
    }
}

extension TokenRequest: Redacted {
    /// The grant type and the client; never a password, a code or a token.
    public var description: String {
        "TokenRequest(grant_type: \(parameters["grant_type"] ?? "none"), server: \(server ?? "none"), \(client))"
    }
}

extension TokenResponse: Redacted {
    /// What was granted; never the tokens.
    public var description: String { "TokenResponse(scopes: \(scopes.joined(separator: " ")), expiresIn: \(expiresIn))" }
}
