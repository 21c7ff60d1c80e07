public import BrowserSignin
public import Foundation
public import Wording

/// A profile to show.
public struct UserInfoModel: Sendable, Identifiable {
    /// The profile from the server.
    public let user: UserInfo

    /// Shows a profile.
    ///
    /// - Parameter user: The profile.
    public init(user: UserInfo) {
        self.user = user
    }

    /// The name of the profile's user.
    public var id: String { user.subject ?? "" }

    /// Returns its values, one per line, in the user's language.
    public var text: String { text(in: BrowserApp.words) }

    /// Its values, one per line.
    ///
    /// - Parameters:
    ///   - words: The language.
    ///   - timeZone: The time zone of the date.
    /// - Returns: The lines.
    public func text(in words: Wording, timeZone: TimeZone = .current) -> String {
        var lines = [
            words("Name: %@", user.name ?? words("No Name set")),
            words("Username: %@", user.preferredUsername ?? words("No Username set")),
        ]
        if let updatedAt = user.updatedAt { lines.append(words("Updated at: %@", words.date(updatedAt, timeZone: timeZone))) }
        return lines.joined(separator: "\n")
    }
}
