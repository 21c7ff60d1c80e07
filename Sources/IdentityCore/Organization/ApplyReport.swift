package import Store

/// The changes that applying a definition makes.
package struct ApplyReport: Sendable, Equatable, CustomStringConvertible {
    /// An object of the organization, and how applying the definition changed it.
    package struct Entry: Sendable, Equatable {
        package enum Action: String, Sendable {
            case created
            case changed
            /// The definition no longer contains the object.
            case removed
            case unchanged
        }

        package var action: Action
        package var kind: RecordKind
        /// The object's name in the definition.
        package var name: String
        /// Additional information; `nil` for none. Never a secret.
        package var note: String?
    }

    /// The objects of the definition and the removed ones, grouped by kind.
    package var entries: [Entry]
    /// The stored origin, if the definition changes it; otherwise `nil`.
    package var previousOrigin: String?

    package var isUnchanged: Bool { entries.allSatisfy { $0.action == .unchanged } }

    package func count(_ action: Entry.Action) -> Int { entries.count { $0.action == action } }

    /// One line per change or note, then one line with the totals.
    package var description: String {
        let lines = entries.filter { $0.action != .unchanged || $0.note != nil }.map { entry in
            "\(entry.action.rawValue) \(entry.kind.rawValue) \(entry.name)" + (entry.note.map { " (\($0))" } ?? "")
        }
        let sums = [Entry.Action.created, .changed, .removed, .unchanged].map { "\(count($0)) \($0.rawValue)" }
        return (lines + [sums.joined(separator: ", ")]).joined(separator: "\n")
    }
}

/// Options for applying a definition.
package struct ApplyOptions: Sendable {
    /// Whether a password that changed in the file since the last apply replaces the user's password.
    package var replacesPasswords: Bool

    /// Creates options. By default, passwords are not replaced, because users change them and the file does not contain the new ones.
    package init(replacesPasswords: Bool = false) {
        self.replacesPasswords = replacesPasswords
    }
}
