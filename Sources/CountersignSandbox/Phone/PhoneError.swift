public import Foundation

/// A failure of a virtual phone. Errors of `DeviceAuthenticator` are thrown unchanged.
///
/// Two errors are equal if their codes are equal. A code can be used as a pattern in `catch`.
public struct PhoneError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
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
    public static func == (lhs: PhoneError, rhs: PhoneError) -> Bool { lhs.code == rhs.code }
}

extension PhoneError {
    /// A reason. Later versions may add reasons.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The organization has no push authenticator that phones can enroll in.
        public static let noAuthenticator = Code(rawValue: "noAuthenticator")
        /// No user has this login, or the user has no password to sign in with.
        public static let unknownPerson = Code(rawValue: "unknownPerson")
        /// The sign-in that enrolls or changes the phone requires a step that the phone cannot complete.
        public static let signInIncomplete = Code(rawValue: "signInIncomplete")
        /// The phone was enrolled while the sandbox had another origin, or the QR code belongs to another sandbox.
        public static let otherOrigin = Code(rawValue: "otherOrigin")
        /// The QR code belongs to another user's sign-in, or the user already has a phone.
        public static let otherPerson = Code(rawValue: "otherPerson")
        /// The phone was removed, or its sandbox has stopped.
        public static let removed = Code(rawValue: "removed")
        /// The request is not pending: it is completed, it is being answered, or it never arrived.
        public static let unknownRequest = Code(rawValue: "unknownRequest")
        /// No request arrived in time.
        public static let nothingArrived = Code(rawValue: "nothingArrived")

        /// Matches an error by its code.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? PhoneError)?.code == code }
    }
}
