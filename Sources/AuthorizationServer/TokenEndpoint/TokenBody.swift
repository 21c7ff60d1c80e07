internal import IdentityEngine

/// The body of a successful token response (RFC 6749 section 5.1), written without detours: this is the hot path.
enum TokenBody {
    /// Writes the body.
    ///
    /// - Parameter response: What was granted.
    /// - Returns: JSON in UTF-8; members that are not there are left out, never `null`.
    static func serialize(_ response: TokenResponse) -> [UInt8] {
        var writer = JSONObjectWriter(
            capacity: 256 + response.accessToken.utf8.count + (response.idToken?.utf8.count ?? 0))
        writer.member("token_type", response.tokenType)
        writer.member("expires_in", response.expiresIn)
        writer.member("access_token", response.accessToken)
        writer.member("scope", response.scopes.joined(separator: " "))
        if let refreshToken = response.refreshToken { writer.member("refresh_token", refreshToken) }
        if let idToken = response.idToken { writer.member("id_token", idToken) }
        if let secret = response.deviceSecret { writer.member("device_secret", secret) }
        if let type = response.issuedTokenType { writer.member("issued_token_type", type) }
        return writer.finish()
    }
}
