public import BrowserSignin
internal import Foundation
internal import Wording

/// A profile to show.
public struct UserInfoModel: Sendable, Identifiable {
    /// The profile as the server sent it.
    public let user: UserInfo

    /// Shows a profile.
    ///
    /// - Parameter user: The profile.
    public init(user: UserInfo) {
        self.user = user
    }

    /// Whose profile it is.
    public var id: String { user.subject ?? "" }

    /// What is shown of it, one line each.
    public var text: String {
        var lines = [
            words("Name: %@", user.name ?? words("No Name set")),
            words("Username: %@", user.preferredUsername ?? words("No Username set")),
        ]
        if let updatedAt = user.updatedAt {
            let formatter = DateFormatter()
            formatter.dateStyle = .medium
            formatter.timeStyle = .short
            lines.append(words("Updated at: %@", formatter.string(from: updatedAt)))
        }
        return lines.joined(separator: "\n")
    }
}
