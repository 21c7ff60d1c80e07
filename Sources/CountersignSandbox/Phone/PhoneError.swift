public import Foundation

/// Why a virtual phone could not do something. What `DeviceAuthenticator` reports is thrown as it is.
///
/// Two errors are equal when their codes are, and a code can be used as a pattern.
public struct PhoneError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
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
    public static func == (lhs: PhoneError, rhs: PhoneError) -> Bool { lhs.code == rhs.code }
}

extension PhoneError {
    /// A reason; more may be added in later versions.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Makes a code from its name.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The organization has no push authenticator that phones could enroll in.
        public static let noAuthenticator = Code(rawValue: "noAuthenticator")
        /// There is nobody with that login, or they have no password to sign in with.
        public static let unknownPerson = Code(rawValue: "unknownPerson")
        /// The sign-in that enrolls or changes the phone asks for something that the phone can't give.
        public static let signInIncomplete = Code(rawValue: "signInIncomplete")
        /// The phone was enrolled while the sandbox had another origin.
        public static let otherOrigin = Code(rawValue: "otherOrigin")
        /// The QR code is of another person's sign-in, or the phone is enrolled already.
        public static let otherPerson = Code(rawValue: "otherPerson")
        /// The phone was removed, or its sandbox has stopped.
        public static let removed = Code(rawValue: "removed")
        /// No such request waits: it is over, it is being answered, or it never came.
        public static let unknownRequest = Code(rawValue: "unknownRequest")
        /// No request came in time.
        public static let nothingArrived = Code(rawValue: "nothingArrived")

        /// Matches an error by its code.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? PhoneError)?.code == code }
    }
}
