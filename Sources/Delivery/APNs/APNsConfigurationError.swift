internal import Foundation

/// An error in the credentials or the configuration of the push service. Two errors are equal if their codes are equal. Messages never
/// contain a key.
package struct APNsConfigurationError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    package let code: Code
    /// The problem and its solution, in one sentence.
    package let message: String
    /// The error of the library that parsed the value; `nil` for none.
    package let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        (self.code, self.message, self.underlying) = (code, message, underlying)
    }

    package var description: String { "\(code.rawValue): \(message)" }
    package var errorDescription: String? { message }
    package static func == (lhs: APNsConfigurationError, rhs: APNsConfigurationError) -> Bool { lhs.code == rhs.code }
}

extension APNsConfigurationError {
    package enum Code: String, Sendable {
        /// The team ID is not ten letters and digits.
        case invalidTeamID
        /// The key ID is not ten letters and digits.
        case invalidKeyID
        /// The signing key is not an unencrypted P-256 key in PEM.
        case invalidPrivateKey
        /// An origin is not `https://` with a host and an optional port.
        case invalidOrigin
        /// The additional trust roots are not certificates in PEM.
        case invalidTrustRoots
    }
}
