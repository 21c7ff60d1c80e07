package import AuthFoundation
package import Foundation
package import Wording

extension UserInfo {
    /// Returns the profile as text.
    ///
    /// - Parameters:
    ///   - wording: The language of the names and of the date.
    ///   - timeZone: The time zone of the date.
    /// - Returns: The names and values, with an empty line between two values.
    package func text(_ wording: Wording, timeZone: TimeZone = .current) -> String {
        var lines = [
            wording("Name: %@", name ?? wording("No name set")),
            wording("Username: %@", preferredUsername ?? wording("No username set")),
            wording("User ID: %@", subject ?? wording("No ID found")),
        ]
        if let updatedAt { lines.append(wording("Updated at: %@", wording.date(updatedAt, timeZone: timeZone))) }
        return lines.joined(separator: "\n\n")
    }
}
