internal import OktaAuthSdk
internal import Wording

/// An input field of an action.
public struct ClassicField: Sendable, Equatable, Identifiable {
    /// One of several possible values.
    public struct Choice: Sendable, Equatable, Identifiable {
        /// The value of the choice.
        public let id: String
        /// The title of the choice, for the user.
        public let title: String
    }

    /// The key of the field in ``ClassicViewModel/values``.
    public let id: String
    /// The label, which tells the user what to enter.
    public let label: String
    /// Whether the input is hidden.
    public var isSecret = false
    /// Whether the input may be empty.
    public var isOptional = false
    /// The possible values; empty if any text is allowed.
    public var choices: [Choice] = []
}

/// An action that a state's links allow.
@MainActor
public struct ClassicAction: Identifiable {
    /// The title of the action's button. Equal titles in one state are numbered from the second on.
    nonisolated public fileprivate(set) var title: String
    /// Whether the action cancels the transaction.
    public var isCancel = false
    /// The message after the action, if the action does not change the state; `nil` for none.
    var note: String?
    /// A function that returns the required fields. Some actions fetch their fields from the server.
    let fields: @MainActor () async throws -> [ClassicField]
    /// A function that runs the action. It returns the next status; `nil` if the transaction has ended.
    let run: @MainActor (_ values: [String: String]) async throws -> OktaAuthStatus?

    /// An identifier that is unique within the state.
    nonisolated public var id: String { title }

    /// Creates an action.
    init(
        _ title: String, isCancel: Bool = false, fields: @escaping @MainActor () async throws -> [ClassicField],
        run: @escaping @MainActor (_ values: [String: String]) async throws -> OktaAuthStatus?
    ) {
        self.title = title
        self.isCancel = isCancel
        self.fields = fields
        self.run = run
    }

    /// Creates an action with fixed fields.
    init(
        _ title: String, _ fields: ClassicField..., run: @escaping @MainActor (_ values: [String: String]) async throws -> OktaAuthStatus?
    ) {
        self.init(title, fields: { fields }, run: run)
    }

    /// Returns the action with a message that is shown after it.
    func saying(_ note: String) -> ClassicAction {
        var action = self
        action.note = note
        return action
    }
}

extension [ClassicAction] {
    /// The actions with distinct titles: equal titles are numbered, because the phones of a user can have the same name.
    @MainActor var distinct: [ClassicAction] {
        var used: Set<String> = []
        return map { action in
            var action = action
            let title = action.title
            var number = 1
            while !used.insert(action.title).inserted {
                number += 1
                action.title = "\(title) (\(number))"
            }
            return action
        }
    }
}

/// The error for an invalid input. Nothing was sent.
struct Mistyped: Error {
    let text: String
}

extension ClassicField {
    static var code: ClassicField { ClassicField(id: "code", label: words("Code")) }
    static var username: ClassicField { ClassicField(id: "username", label: words("Username")) }
    static var phoneNumber: ClassicField {
        ClassicField(id: "number", label: words("Phone number, e.g. +15550100 (empty: the number on file)"), isOptional: true)
    }
    static var oldPassword: ClassicField { ClassicField(id: "old", label: words("Current password"), isSecret: true) }
    static var newPassword: ClassicField { ClassicField(id: "new", label: words("New password"), isSecret: true) }
    static var newPasswordAgain: ClassicField { ClassicField(id: "again", label: words("New password again"), isSecret: true) }

    static func answer(_ question: String?) -> ClassicField {
        ClassicField(id: "answer", label: question ?? words("Your answer"), isSecret: true)
    }

    static var token: ClassicField { ClassicField(id: "token", label: words("Token"), isSecret: true) }

    /// The purpose of a token that the user received elsewhere.
    static var tokenKind: ClassicField {
        ClassicField(
            id: "kind", label: words("Purpose"),
            choices: [
                Choice(id: ClassicTokenKind.state.rawValue, title: words("Sign-in that started elsewhere")),
                Choice(id: ClassicTokenKind.recovery.rawValue, title: words("Recovery (from a mailed link)")),
                Choice(id: ClassicTokenKind.activation.rawValue, title: words("First sign-in")),
            ])
    }

    /// The channel on which the server can reach a user who cannot sign in.
    static var recoveryWay: ClassicField {
        ClassicField(
            id: "way", label: words("How to reach you"),
            choices: [
                Choice(id: "email", title: words("E-mail")), Choice(id: "sms", title: words("Text message")),
                Choice(id: "call", title: words("Phone call")),
            ])
    }
}

extension [String: String] {
    /// Returns the input of a field; empty without input.
    func text(_ field: String) -> String { self[field] ?? "" }

    /// Returns the new password. Throws ``Mistyped`` if the two inputs differ.
    func newPassword() throws -> String {
        guard text("new") == text("again") else { throw Mistyped(text: words("The two new passwords differ.")) }
        return text("new")
    }

    var phoneNumber: String? { text("number").isEmpty ? nil : text("number") }

    var tokenKind: ClassicTokenKind { ClassicTokenKind(rawValue: text("kind")) ?? .state }

    var recoveryWay: OktaRecoveryFactors {
        switch text("way") {
        case "sms": .sms
        case "call": .call
        default: .email
        }
    }
}
