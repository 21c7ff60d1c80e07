internal import Foundation

/// Why credentials for the push service, or the way to it, were not accepted.
///
/// Two errors are equal when their codes are, and a code can be used as a pattern. No key is ever in a message.
package struct APNsConfigurationError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// The reason, for programs.
    package let code: Code
    /// What is wrong and what to do about it, in one sentence.
    package let message: String
    /// What a library said, if one was asked.
    package let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The code and the message.
    package var description: String { "\(code.rawValue): \(message)" }
    /// The message.
    package var errorDescription: String? { message }
    /// Whether two errors have the same code.
    package static func == (lhs: APNsConfigurationError, rhs: APNsConfigurationError) -> Bool { lhs.code == rhs.code }
}

extension APNsConfigurationError {
    /// A reason; more may be added in later versions.
    package struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        package let rawValue: String

        /// Makes a code from its name.
        ///
        /// - Parameter rawValue: The name.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The team's id is not ten letters and digits.
        package static let invalidTeamID = Code(rawValue: "invalidTeamID")
        /// The key's id is not ten letters and digits.
        package static let invalidKeyID = Code(rawValue: "invalidKeyID")
        /// The signing key is no unencrypted P-256 key in PEM.
        package static let invalidPrivateKey = Code(rawValue: "invalidPrivateKey")

        /// An origin is not `https://` with a host, and perhaps a port.
        package static let invalidOrigin = Code(rawValue: "invalidOrigin")
        /// The additional trust roots are no certificates in PEM.
        package static let invalidTrustRoots = Code(rawValue: "invalidTrustRoots")

        /// Matches an error by its code.
        package static func ~= (code: Code, error: any Error) -> Bool { (error as? APNsConfigurationError)?.code == code }
    }
}
