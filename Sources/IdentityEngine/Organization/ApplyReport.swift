/// What applying an organization's definition changed.
public struct ApplyReport: Sendable, Equatable, CustomStringConvertible {
    /// One thing that the definition names, or no longer names.
    public struct Entry: Sendable, Equatable {
        /// What happened to it.
        public enum Action: String, Sendable {
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
        public var action: Action
        /// What it is: `application`, `user`, …
        public var kind: RecordKind
        /// What the definition calls it.
        public var name: String
        /// What else is worth telling; never a secret.
        public var note: String?
    }

    /// In the order of the kinds, then of the names.
    public var entries: [Entry]

    /// Whether the store was left as it was.
    public var isUnchanged: Bool { entries.allSatisfy { $0.action == .unchanged } }

    /// How many entries had something happen to them.
    ///
    /// - Parameter action: What happened.
    /// - Returns: The count, 0 or more.
    public func count(_ action: Entry.Action) -> Int { entries.count { $0.action == action } }

    /// One line per change or note, then one with the sums.
    public var description: String {
        let lines = entries.filter { $0.action != .unchanged || $0.note != nil }.map { entry in
            "\(entry.action.rawValue) \(entry.kind.rawValue) \(entry.name)" + (entry.note.map { " (\($0))" } ?? "")
        }
        let sums = [Entry.Action.created, .changed, .removed, .unchanged].map { "\(count($0)) \($0.rawValue)" }
        return (lines + [sums.joined(separator: ", ")]).joined(separator: "\n")
    }
}

/// What applying an organization's definition may do beyond the ordinary.
public struct ApplyOptions: Sendable {
    /// Whether a password that changed in the file since it was last applied replaces the one that the user has.
    public var replacesPasswords: Bool

    /// Makes options.
    ///
    /// - Parameter replacesPasswords: Whether a password that changed in the file replaces the user's; off by default, since
    ///   people change their passwords and the file does not know.
    public init(replacesPasswords: Bool = false) {
        self.replacesPasswords = replacesPasswords
    }
}
