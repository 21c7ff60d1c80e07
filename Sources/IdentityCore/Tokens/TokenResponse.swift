internal import JOSE

/// A successful response of the token endpoint (RFC 6749 section 5.1).
package struct TokenResponse: Sendable {
    /// The type of the access token: `Bearer` or `DPoP`.
    package var tokenType: String
    /// The lifetime of the access token in seconds.
    package var expiresIn: Int
    package var accessToken: String
    /// The granted scopes, in the requested order.
    package var scopes: [String]
    /// The refresh token; `nil` unless `offline_access` was granted.
    package var refreshToken: String?
    /// The ID token; `nil` unless `openid` was granted.
    package var idToken: String?
    /// The device secret; `nil` unless `device_sso` was granted.
    package var deviceSecret: String?
    /// The type of the access token in the response to a token exchange (RFC 8693 section 2.2.1); otherwise `nil`.
    package var issuedTokenType: String?
    /// The nonce for the client's next proof, sent in the header `DPoP-Nonce`; `nil` if the client has it already.
    package var nextNonce: String?

    package init(
        tokenType: String = "Bearer", expiresIn: Int, accessToken: String, scopes: [String], refreshToken: String? = nil,
        idToken: String? = nil
    ) {
        (self.tokenType, self.expiresIn, self.accessToken, self.scopes) = (tokenType, expiresIn, accessToken, scopes)
        (self.refreshToken, self.idToken) = (refreshToken, idToken)
    }
}

extension TokenResponse: Redacted {
    package var description: String { "TokenResponse(scopes: \(scopes.joined(separator: " ")), expiresIn: \(expiresIn))" }
}
