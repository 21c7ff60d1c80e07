internal import JOSE

/// A successful answer of the token endpoint (RFC 6749 section 5.1).
package struct TokenResponse: Sendable {
    /// `Bearer`, or `DPoP`.
    package var tokenType: String
    /// Seconds.
    package var expiresIn: Int
    /// The access token.
    package var accessToken: String
    /// What was granted, in the order asked for.
    package var scopes: [String]
    /// Present if `offline_access` was granted.
    package var refreshToken: String?
    /// Present if `openid` was granted.
    package var idToken: String?
    /// The secret that the apps of the device share; present if `device_sso` was granted.
    package var deviceSecret: String?
    /// What the access token is, in answer to a token exchange (RFC 8693 section 2.2.1); nil in all others.
    package var issuedTokenType: String?
    /// The nonce that the client's next proof should carry, for the header `DPoP-Nonce`; nil if it knows.
    package var nextNonce: String?

    /// Makes an answer.
    package init(
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

extension TokenResponse: Redacted {
    /// What was granted; never the tokens.
    package var description: String { "TokenResponse(scopes: \(scopes.joined(separator: " ")), expiresIn: \(expiresIn))" }
}
