public import Foundation

/// Why credentials for the push service, or the way to it, were not accepted.
///
/// Two errors are equal when their codes are, and a code can be used as a pattern. No key is ever in a message.
public struct APNsConfigurationError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// The reason, for programs.
    public let code: Code
    /// What is wrong and what to do about it, in one sentence.
    public let message: String
    /// What a library said, if one was asked.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
    /// The message.
    public var errorDescription: String? { message }
    /// Whether two errors have the same code.
    public static func == (lhs: APNsConfigurationError, rhs: APNsConfigurationError) -> Bool { lhs.code == rhs.code }
}

extension APNsConfigurationError {
    /// A reason; more may be added in later versions.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Makes a code from its name.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The team's id is not ten letters and digits.
        public static let invalidTeamID = Code(rawValue: "invalidTeamID")
        /// The key's id is not ten letters and digits.
        public static let invalidKeyID = Code(rawValue: "invalidKeyID")
        /// The signing key is no unencrypted P-256 key in PEM.
        public static let invalidPrivateKey = Code(rawValue: "invalidPrivateKey")

        /// An origin is not `https://` with a host, and perhaps a port.
        public static let invalidOrigin = Code(rawValue: "invalidOrigin")
        /// The additional trust roots are no certificates in PEM.
        public static let invalidTrustRoots = Code(rawValue: "invalidTrustRoots")

        /// Matches an error by its code.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? APNsConfigurationError)?.code == code }
    }
}
