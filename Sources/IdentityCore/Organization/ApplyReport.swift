package import Store

/// What applying an organization's definition changed.
package struct ApplyReport: Sendable, Equatable, CustomStringConvertible {
    /// One thing that the definition names, or no longer names.
    package struct Entry: Sendable, Equatable {
        /// What happened to it.
        package enum Action: String, Sendable {
            /// It was not there.
            case created
            /// It was there, and is another now.
            case changed
            /// The definition no longer names it.
            case removed
            /// It is as it was.
            case unchanged
        }

        /// What happened to it.
        package var action: Action
        /// What it is: `application`, `user`, …
        package var kind: RecordKind
        /// What the definition calls it.
        package var name: String
        /// What else is worth telling; never a secret.
        package var note: String?
    }

    /// In the order of the kinds, then of the names.
    package var entries: [Entry]

    /// Whether the store was left as it was.
    package var isUnchanged: Bool { entries.allSatisfy { $0.action == .unchanged } }

    /// How many entries had something happen to them.
    ///
    /// - Parameter action: What happened.
    /// - Returns: The count, 0 or more.
    package func count(_ action: Entry.Action) -> Int { entries.count { $0.action == action } }

    /// One line per change or note, then one with the sums.
    package var description: String {
        let lines = entries.filter { $0.action != .unchanged || $0.note != nil }.map { entry in
            "\(entry.action.rawValue) \(entry.kind.rawValue) \(entry.name)" + (entry.note.map { " (\($0))" } ?? "")
        }
        let sums = [Entry.Action.created, .changed, .removed, .unchanged].map { "\(count($0)) \($0.rawValue)" }
        return (lines + [sums.joined(separator: ", ")]).joined(separator: "\n")
    }
}

/// What applying an organization's definition may do beyond the ordinary.
package struct ApplyOptions: Sendable {
    /// Whether a password that changed in the file since it was last applied replaces the one that the user has.
    package var replacesPasswords: Bool

    /// Makes options.
    ///
    /// - Parameter replacesPasswords: Whether a password that changed in the file replaces the user's; off by default, since
    ///   people change their passwords and the file does not know.
    package init(replacesPasswords: Bool = false) {
        self.replacesPasswords = replacesPasswords
    }
}
