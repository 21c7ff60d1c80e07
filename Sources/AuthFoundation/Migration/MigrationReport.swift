public import Foundation

extension Migration {
    /// The results of a migration, or of a dry run, without secrets.
    public struct Report: Sendable, CustomStringConvertible {
        /// The results, one for each stored session.
        public let items: [Item]

        /// Returns the results with this outcome.
        public func items(_ outcome: Outcome) -> [Item] { items.filter { $0.outcome == outcome } }

        /// The sessions that could not be imported.
        public var skipped: [Item] { items.filter { $0.reason != nil } }

        /// One line for each session.
        public var description: String { items.map(\.description).joined(separator: "\n") }

        /// The first error of the storage or of the Keychain; `nil` if there was none.
        var failure: (any Error)? { items.lazy.compactMap { $0.reason?.underlying ?? $0.underlying }.first }
    }

    /// The result for one stored session.
    public struct Item: Sendable, CustomStringConvertible {
        /// The SDK that stored the session, such as `okta-oidc-ios`.
        public let sdk: String

        /// The name of the session's entry: the account of a Keychain item, the key in the user defaults, or the name that the app gave.
        public let name: String

        /// The result.
        public let outcome: Outcome

        /// The id of the credential that contains the session now; `nil` if there is none. For a duplicate, the credential that was kept.
        public let credentialID: String?

        /// Whether the original is removed.
        public let isOriginalRemoved: Bool

        /// The error of a Keychain that is locked.
        let underlying: (any Error)?

        init(
            sdk: String, name: String, outcome: Outcome, credentialID: String? = nil, isOriginalRemoved: Bool = false,
            underlying: (any Error)? = nil
        ) {
            (self.sdk, self.name, self.outcome, self.credentialID) = (sdk, name, outcome, credentialID)
            (self.isOriginalRemoved, self.underlying) = (isOriginalRemoved, underlying)
        }

        /// The reason why the session was skipped; `nil` for other outcomes.
        public var reason: SkipReason? {
            if case .skipped(let reason) = outcome { reason } else { nil }
        }

        /// The SDK, the name and the outcome.
        public var description: String { "\(sdk) \(SkipReason.shortened(name)): \(outcome)" }
    }

    /// The outcome for one stored session.
    public enum Outcome: Sendable, Equatable, CustomStringConvertible {
        /// The session was read and checked in a dry run. A migration would import it.
        case importable
        /// The session is stored as a credential now.
        case imported
        /// An earlier run imported the session. The user may have signed out since.
        case alreadyImported
        /// The session cannot be imported. Its original stays.
        case skipped(SkipReason)
        /// The session requires an authentication of the user. Call ``Migration/migrateSessions(authenticationContext:)`` with one.
        case protected
        /// The device is locked. Try again after the user has unlocked it.
        case locked

        /// The name of the case, with the reason.
        public var description: String {
            switch self {
            case .importable: "importable"
            case .imported: "imported"
            case .alreadyImported: "already imported"
            case .skipped(let reason): "skipped: \(reason)"
            case .protected: "protected, needs an authentication of the user"
            case .locked: "the device is locked"
            }
        }
    }

    /// The reason why a session is not imported. It contains no secret. Two reasons are equal if their codes are equal.
    public struct SkipReason: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Sendable, Equatable, CustomStringConvertible
    {
        /// An extensible code.
        public struct Code: RawRepresentable, Hashable, Sendable {
            /// The name of the code.
            public let rawValue: String

            /// Creates a code from its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The data is damaged, truncated or of another program.
            public static let unreadable = Code(rawValue: "unreadable")
            /// The data is larger than 1 MiB, or expands to more than 4 MiB.
            public static let tooLarge = Code(rawValue: "tooLarge")
            /// A value that is needed to use the session is missing.
            public static let incomplete = Code(rawValue: "incomplete")
            /// The session belongs to another client than the one that the app named.
            public static let otherClient = Code(rawValue: "otherClient")
            /// The ID token, the stored settings and the app name different issuers.
            public static let otherIssuer = Code(rawValue: "otherIssuer")
            /// The issuer is neither https nor a loopback host.
            public static let insecureIssuer = Code(rawValue: "insecureIssuer")
            /// A token is malformed.
            public static let invalidToken = Code(rawValue: "invalidToken")
            /// The access token has expired, and there is no refresh token.
            public static let expired = Code(rawValue: "expired")
            /// The tokens are bound to a DPoP key of the other SDK.
            public static let boundToKey = Code(rawValue: "boundToKey")
            /// The other SDK stored that the server had ended the session.
            public static let ended = Code(rawValue: "ended")
            /// The same session, or another one of the same user, is kept instead.
            public static let duplicate = Code(rawValue: "duplicate")
            /// The protection of the original cannot be applied to the new entry.
            public static let protectionLost = Code(rawValue: "protectionLost")
            /// The original could not be read, or the new entry could not be stored. The next run tries again.
            public static let storageFailed = Code(rawValue: "storageFailed")
        }

        /// The code.
        public let code: Code

        /// The reason and a remedy, in English, for developers.
        public let message: String

        /// The error of the storage; `nil` for other reasons.
        public let underlying: (any Error)?

        package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
            (self.code, self.message, self.underlying) = (code, message, underlying)
        }

        /// A sentence for the user, in the user's language.
        public var errorDescription: String? { userText.description.text }

        /// The next step for the user, in the user's language; `nil` if there is none.
        public var recoverySuggestion: String? { userText.suggestion?.text }

        package var userText: ErrorText {
            switch code {
            case .expired, .ended: .signedOut
            case .duplicate: ErrorText("You are already signed in.", de: "Sie sind bereits angemeldet.")
            case .storageFailed: underlying.map(ErrorText.init(of:)) ?? .notSaved
            default: .storedUnreadable
            }
        }

        /// The message, the code and the underlying error, for developers.
        public var debugDescription: String { technicalText(message, [code.rawValue], causedBy: underlying) }

        /// The same as ``debugDescription``.
        public var description: String { debugDescription }

        /// Whether the codes are equal.
        public static func == (left: SkipReason, right: SkipReason) -> Bool { left.code == right.code }

        static let unreadable = SkipReason(.unreadable, "The data is not in a format of the other SDK.")
        static let tooLarge = SkipReason(.tooLarge, "The data is larger than 1 MiB, or expands to more than 4 MiB.")

        /// Returns a stored value in a form for messages, which become part of notes and logs: at most 100 characters in one line.
        static func shortened(_ value: String) -> String {
            let scalars = value.unicodeScalars.prefix(100).map { $0.properties.generalCategory.isVisible ? $0 : "�" }
            return String(String.UnicodeScalarView(scalars)) + (value.unicodeScalars.count > 100 ? "…" : "")
        }

        static func incomplete(_ member: String) -> SkipReason { SkipReason(.incomplete, "The stored session has no \(member).") }

        static func storageFailed(_ error: any Error) -> SkipReason {
            SkipReason(.storageFailed, "The storage failed. The next run tries again.", underlying: error)
        }
    }
}

extension Unicode.GeneralCategory {
    /// Whether a character of this category neither ends a line nor changes the order of the text around it.
    fileprivate var isVisible: Bool {
        switch self {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
