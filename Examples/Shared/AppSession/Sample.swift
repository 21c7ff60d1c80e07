package import AuthFoundation
internal import Foundation

/// Sample tokens and a sample profile, for previews.
package enum Sample {
    /// Returns tokens that no server accepts.
    ///
    /// - Parameters:
    ///   - number: The number of the sample; each number gives different tokens.
    ///   - keys: The members to omit from the token response.
    /// - Throws: An encoding or decoding error.
    package static func token(_ number: Int = 1, without keys: Set<String> = []) throws -> Token {
        let settings = ["issuer": "https://id.example.com/oauth2/default", "clientId": "example-app", "scopes": "openid profile"]
        let configuration = try OAuth2Client.Configuration(plist: OAuth2Client.PropertyListConfiguration(settings))
        let response: [String: Any] = [
            "token_type": "Bearer", "expires_in": 3600, "access_token": "sample-access-token-\(number)", "scope": "openid profile",
            "refresh_token": "sample-refresh-token-\(number)",
        ]
        let stored: [String: Any] = [
            "version": 1, "id": "sample", "issuedAt": 1_700_000_000,
            "context": ["configuration": try JSONSerialization.jsonObject(with: JSONEncoder().encode(configuration))],
            "response": response.filter { !keys.contains($0.key) },
        ]
        return try JSONDecoder().decode(Token.self, from: JSONSerialization.data(withJSONObject: stored))
    }

    /// Returns a sample profile.
    ///
    /// - Throws: A decoding error, which cannot occur.
    package static func userInfo() throws -> UserInfo {
        let claims = #"{"sub":"00u1a2b3c4d5","name":"Jane Doe","preferred_username":"jane.doe@example.com","email":"jane.doe@example.com"}"#
        return try UserInfo(JSON(Data(claims.utf8)))
    }
}
