package import AuthFoundation
internal import Foundation

/// A user without a session, for previews.
package enum Sample {
    /// Tokens that no server accepts.
    ///
    /// - Parameters:
    ///   - number: The number of the sample; each number gives different tokens.
    ///   - keys: The members that the response lacks.
    /// - Returns: The tokens.
    /// - Throws: An encoding error.
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

    /// A profile.
    ///
    /// - Returns: The profile.
    /// - Throws: An encoding error, which cannot occur.
    package static func userInfo() throws -> UserInfo {
        let claims = #"{"sub":"00u1a2b3c4d5","name":"Jane Doe","preferred_username":"jane.doe@example.com","email":"jane.doe@example.com"}"#
        return try UserInfo(JSON(Data(claims.utf8)))
    }
}
