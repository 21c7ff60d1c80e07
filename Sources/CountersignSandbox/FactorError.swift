public import Foundation

/// Why a person did not get a factor. Two errors are equal when their codes are.
public struct FactorError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// A reason; more may be added in later versions.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Makes a code from its name.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is nobody with that login.
        public static let unknownPerson = Code(rawValue: "unknownPerson")
        /// It is no number in international form, or no address.
        public static let unreadableDestination = Code(rawValue: "unreadableDestination")
        /// There is no such question, or the answer will not do.
        public static let unusableQuestion = Code(rawValue: "unusableQuestion")
        /// What was scanned is nothing that an authenticator app could be set up from.
        public static let unreadableURI = Code(rawValue: "unreadableURI")
    }

    /// The reason, for programs.
    public let code: Code
    /// What is wrong and what to do about it.
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
