public import Foundation

/// Tokens cannot be bound to this device's key, or the bound key is missing (RFC 9449). Two errors are equal if their codes are.
public struct DPoPError: Error, LocalizedError, Sendable, Equatable {
    /// An extensible error code.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The key to which the tokens are bound is not on this device, for example after a restore. The user must sign in again; a retry
        /// fails.
        public static let keyLost = Code(rawValue: "keyLost")
        /// The server issued tokens that are not bound to the key. They were rejected.
        public static let downgraded = Code(rawValue: "downgraded")
        /// The stored key is invalid.
        public static let keyUnusable = Code(rawValue: "keyUnusable")
    }

    /// The error code.
    public let code: Code

    /// A description of the error and a remedy.
    public let message: String

    /// The underlying error.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    static var keyLost: DPoPError {
        DPoPError(.keyLost, "The key that this session is bound to is no longer on this device. Sign in again.")
    }

    /// Whether the stored key can never be used again.
    var isFinal: Bool { code == .keyLost || code == .keyUnusable }

    /// A description of the error and a remedy.
    public var errorDescription: String? { message }

    /// Whether the codes are equal.
    public static func == (left: DPoPError, right: DPoPError) -> Bool { left.code == right.code }
}
