package import AuthFoundation
package import Foundation
package import Wording

/// A section of a displayed profile.
package struct ProfileSection: Identifiable, Equatable {
    /// A value with its name.
    package struct Row: Identifiable, Equatable {
        package let label: String
        package let value: String

        package var id: String { label }
    }

    /// The title of the section.
    package let title: String
    /// The values of the section.
    package let rows: [Row]

    package var id: String { title }
}

extension UserInfo {
    /// Returns the sections of the profile.
    ///
    /// - Parameters:
    ///   - wording: The language of the names and of the date.
    ///   - timeZone: The time zone of the date.
    package func sections(_ wording: Wording, timeZone: TimeZone = .current) -> [ProfileSection] {
        var sections = [
            ProfileSection(
                title: wording("User Information"),
                rows: [
                    .init(label: wording("Name"), value: name ?? wording("Not provided")),
                    .init(label: wording("Email"), value: email ?? wording("Not provided")),
                    .init(label: wording("Username"), value: preferredUsername ?? wording("Not provided")),
                    .init(label: wording("User ID"), value: subject ?? wording("Unknown")),
                ])
        ]
        if let updatedAt {
            let date = wording.date(updatedAt, day: .long, timeZone: timeZone)
            sections.append(ProfileSection(title: wording("Metadata"), rows: [.init(label: wording("Last Updated"), value: date)]))
        }
        return sections
    }
}
