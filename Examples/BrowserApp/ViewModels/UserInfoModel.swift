public import BrowserSignin
public import Foundation
public import Wording

/// A profile that the app shows.
public struct UserInfoModel: Sendable, Identifiable {
    /// The profile from the server.
    public let user: UserInfo

    /// Creates a model of a profile.
    ///
    /// - Parameter user: The profile from the server.
    public init(user: UserInfo) {
        self.user = user
    }

    /// The subject of the profile; empty without a subject.
    public var id: String { user.subject ?? "" }

    /// The values of the profile, one per line, in the user's language.
    public var text: String { text(in: BrowserApp.words) }

    /// Returns the values of the profile, one per line.
    ///
    /// - Parameters:
    ///   - words: The language.
    ///   - timeZone: The time zone of the date.
    public func text(in words: Wording, timeZone: TimeZone = .current) -> String {
        var lines = [
            words("Name: %@", user.name ?? words("No Name set")),
            words("Username: %@", user.preferredUsername ?? words("No Username set")),
        ]
        if let updatedAt = user.updatedAt { lines.append(words("Updated at: %@", words.date(updatedAt, timeZone: timeZone))) }
        return lines.joined(separator: "\n")
    }
}
