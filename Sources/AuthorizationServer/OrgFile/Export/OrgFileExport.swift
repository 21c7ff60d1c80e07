package import IdentityCore
internal import Yams

/// An organization as the text of an org file that contains no secret. With ``variables`` set in the environment, the file loads to the
/// same definition.
///
/// ```swift
/// let export = try OrgFileExport(try await engine.storedDefinition(), includesUsers: false)
/// print(export.text)
/// ```
package struct OrgFileExport: Sendable, Equatable {
    /// A value that the file reads from an environment variable.
    package struct Variable: Sendable, Equatable {
        /// The value that the variable stands for.
        package enum Source: Sendable, Equatable {
            case applicationSecret(id: String)
            case authenticatorKey(id: String)
            case callerToken(name: String)
            case userPassword(login: String)
            case userTOTPSecret(login: String)
            case userDeviceSeed(login: String)
            /// A text that the file would take for a reference to another variable.
            case text(String)
        }

        package let name: String
        package let source: Source
    }

    package let text: String
    /// In the order of the file.
    package let variables: [Variable]

    /// Writes the file.
    /// - Parameter includesUsers: Whether the file contains the definition's users, which are personal data.
    /// - Throws: `YamlError` if the YAML library fails.
    package init(_ definition: OrganizationDefinition, includesUsers: Bool) throws {
        let writer = OrgFileWriter()
        let root = writer.root(definition, includesUsers: includesUsers)
        let sections = try root.pairs.map { pair in
            try serialize(node: .mapping(.init([pair])), width: -1, allowUnicode: true)
        }
        variables = writer.variables
        let heading = Self.heading(variables, users: definition.users.count, includesUsers: includesUsers)
        text = ([heading.map { $0.isEmpty ? "#\n" : "# \($0)\n" }.joined()] + sections).joined(separator: "\n")
    }

    private static func heading(_ variables: [Variable], users: Int, includesUsers: Bool) -> [String] {
        var lines = [
            "The configuration that the servers run with, written by: countersign org export", "",
            "The sections server, branding, messages and breached_passwords are not stored in the database, so they are not in this file.",
            "Copy them from the org file of the servers.", "",
        ]
        if includesUsers {
            lines += [
                "Of the users, this file contains those of the last org file, as it defined them. It contains no passwords and no secrets of",
                "authenticator apps: accounts that exist keep theirs. In a new database, these users have no password, and groups and statuses",
                "that were changed later with countersign users are those of the last org file again.",
            ]
        } else if users > 0 {
            lines += [
                "Users are personal data and are not in this file. The last org file defined \(users) user\(users == 1 ? "" : "s"). Copy its section users, or export",
                "again with --users: if you apply a file without them, they are deactivated.",
            ]
        } else {
            lines.append("Users are personal data and are not in this file. They stay as they are when you apply it.")
        }
        lines += [
            "",
            "The file contains no client secrets, keys, tokens or passwords. Assignments can name logins. A secret in another setting, such as",
            "a claim or an address, is written as it is.",
        ]
        guard !variables.isEmpty else { return lines }
        lines += ["", "Before you use the file, set these variables to the values that the servers use now:"]
        let width = variables.map(\.name.count).max() ?? 0
        return lines + variables.map { "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))  \($0.meaning)" }
    }
}

extension OrgFileExport.Variable {
    /// The description of the value, in one line.
    fileprivate var meaning: String {
        switch source {
        case .applicationSecret(let id): "the secret of the application \(Self.quoted(id))"
        case .authenticatorKey(let id): "the APNs key of the authenticator \(Self.quoted(id)), the text of its .p8 file"
        case .callerToken(let name): "the token of the trusted caller \(Self.quoted(name))"
        case .userPassword(let login): "the first password of the user \(Self.quoted(login))"
        case .userTOTPSecret(let login): "the authenticator app secret of the user \(Self.quoted(login))"
        case .userDeviceSeed(let login):
            "the seed of the HOTP device of the user \(Self.quoted(login)); also add its counter if the last org file has one"
        case .text(let text): "the text \(Self.quoted(text)), which the file would read as a reference"
        }
    }

    /// Returns a text in quotation marks. A line break would end the comment, so it and other control characters are replaced.
    private static func quoted(_ text: String) -> String {
        let visible = text.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: "\u{FFFD}"
            default: String(scalar)
            }
        }
        return "“\(visible.joined())”"
    }
}
