public import BrowserSignin
internal import Foundation
internal import Wording

/// What the app shows of an id token. In this module it goes before the `TokenInfo` of introspection.
public struct TokenInfo: Sendable, Equatable, Identifiable {
    /// The token as it was sent.
    public let idToken: String
    /// Who issued it.
    public let tokenIssuer: String
    /// The name that the person signs in with.
    public let preferredUsername: String
    /// When the person last proved who they are; nil if the token does not say.
    public let authTime: String?
    /// When it was issued; nil if the token does not say.
    public let issuedAt: String?

    /// The token itself: there is one at a time.
    public var id: String { idToken }

    /// Reads an id token.
    ///
    /// - Parameter idToken: The token.
    public init(idToken: JWT) {
        self.idToken = idToken.rawValue
        tokenIssuer = idToken.issuer ?? words("No Issuer found")
        preferredUsername = idToken.preferredUsername ?? words("No preferred_username found")
        let formatter = DateFormatter()
        formatter.dateStyle = .medium
        formatter.timeStyle = .medium
        authTime = idToken.authTime.map(formatter.string)
        issuedAt = idToken.issuedAt.map(formatter.string)
    }

    /// All of it as text, one line each.
    ///
    /// An id token says who somebody is: an app that is not an example does not show it.
    ///
    /// - Returns: The lines.
    public func toString() -> String {
        var lines = [
            words("ID Token: %@", idToken), words("Preferred username: %@", preferredUsername),
            words("Token Issuer: %@", tokenIssuer),
        ]
        if let authTime { lines.append(words("Auth time: %@", authTime)) }
        if let issuedAt { lines.append(words("Issued at: %@", issuedAt)) }
        return lines.joined(separator: "\n")
    }
}
