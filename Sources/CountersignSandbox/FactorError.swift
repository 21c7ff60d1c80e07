public import Foundation

/// A failure to add a factor to a user. Two errors are equal when their codes are equal.
public struct FactorError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// A reason; later versions may add more.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No user has this login.
        public static let unknownPerson = Code(rawValue: "unknownPerson")
        /// The destination is neither a number in international form nor a mail address.
        public static let unreadableDestination = Code(rawValue: "unreadableDestination")
        /// The question does not exist, or the answer is not acceptable.
        public static let unusableQuestion = Code(rawValue: "unusableQuestion")
        /// The URI is not one from which an authenticator app can be set up.
        public static let unreadableURI = Code(rawValue: "unreadableURI")
    }

    /// The reason, for programs.
    public let code: Code
    /// The problem and its solution.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
    /// The message.
    public var errorDescription: String? { message }
    /// Whether two errors have the same code.
    public static func == (lhs: FactorError, rhs: FactorError) -> Bool { lhs.code == rhs.code }
}
