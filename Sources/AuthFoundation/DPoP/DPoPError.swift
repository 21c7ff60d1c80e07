public import Foundation

/// Tokens can't be bound to this device's key, or are bound to one that it does not have (RFC 9449).
///
/// A `Sendable` value; two are equal if their codes are.
public struct DPoPError: Error, LocalizedError, Sendable, Equatable {
    /// What went wrong, for programs. Further codes may come.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name.
        public let rawValue: String

        /// A code by its name.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The key that the tokens are bound to is not on this device, as after a restore. The person must sign in again; trying again is
        /// in vain.
        public static let keyLost = Code(rawValue: "keyLost")
        /// The server gave tokens that are bound to nothing. They were not taken.
        public static let downgraded = Code(rawValue: "downgraded")
        /// What is stored as a key is none.
        public static let keyUnusable = Code(rawValue: "keyUnusable")
    }

    /// What went wrong.
    public let code: Code

    /// What happened and what to do next, in a sentence or two.
    public let message: String

    /// The error below this one.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    static var keyLost: DPoPError {
        DPoPError(.keyLost, "The key that this session is bound to is no longer on this device. Sign in again.")
    }

    /// Whether there is nothing left in the key's place that could be kept.
    var isFinal: Bool { code == .keyLost || code == .keyUnusable }

    /// What happened and what to do next.
    public var errorDescription: String? { message }

    /// Whether the codes are equal.
    public static func == (left: DPoPError, right: DPoPError) -> Bool { left.code == right.code }
}
