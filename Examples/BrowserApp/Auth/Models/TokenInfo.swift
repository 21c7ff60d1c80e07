public import BrowserSignin
public import Foundation
public import Wording

/// The content of an ID token, as the app shows it. In this module, this type shadows the `TokenInfo` of introspection.
public struct TokenInfo: Sendable, Equatable, Identifiable {
    /// The token in its compact form.
    public let idToken: String
    /// The issuer.
    public let tokenIssuer: String
    /// The user name.
    public let preferredUsername: String
    /// The time of the user's last authentication; `nil` if the token has none.
    public let authTime: String?
    /// The time of issue; `nil` if the token has none.
    public let issuedAt: String?

    /// The ID token, which identifies the content.
    public var id: String { idToken }

    /// Creates the content of an ID token.
    ///
    /// - Parameters:
    ///   - idToken: The token.
    ///   - words: The language.
    ///   - timeZone: The time zone of the dates.
    public init(idToken: JWT, in words: Wording = BrowserApp.words, timeZone: TimeZone = .current) {
        self.idToken = idToken.rawValue
        tokenIssuer = idToken.issuer ?? words("No Issuer found")
        preferredUsername = idToken.preferredUsername ?? words("No preferred_username found")
        let text = { (date: Date) in words.date(date, time: .medium, timeZone: timeZone) }
        authTime = idToken.authTime.map(text)
        issuedAt = idToken.issuedAt.map(text)
    }

    /// Returns the ID token and its claims, one per line.
    ///
    /// A production app does not show an ID token, because it identifies the user.
    ///
    /// - Parameter words: The language of the names.
    public func toString(in words: Wording = BrowserApp.words) -> String {
        words("ID Token: %@", idToken) + "\n" + claims(in: words)
    }

    /// Returns the claims without the ID token, one per line, for screen readers.
    ///
    /// - Parameter words: The language of the names.
    public func claims(in words: Wording = BrowserApp.words) -> String {
        var lines = [words("Preferred username: %@", preferredUsername), words("Token Issuer: %@", tokenIssuer)]
        if let authTime { lines.append(words("Auth time: %@", authTime)) }
        if let issuedAt { lines.append(words("Issued at: %@", issuedAt)) }
        return lines.joined(separator: "\n")
    }
}
