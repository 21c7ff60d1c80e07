internal import NIOConcurrencyHelpers

/// Counts the expensive operations of one task, so that tests can compare the work of two requests without a clock. The server runs without
/// a meter; counting then only reads a task-local value.
final class OperationMeter: Sendable {
    enum Operation: String, Sendable {
        /// HMAC-SHA-1 or HMAC-SHA-256.
        case hmac
        /// AES-GCM encryption and decryption.
        case seal, open
        /// Scrypt, in units of its cost: 2^logN.
        case passwordHash
        /// JSON decoding and encoding of records.
        case decode, encode
        /// The check of a passkey's answer with one public key.
        case signature
    }

    /// The meter of this task; `nil` outside tests.
    @TaskLocal static var current: OperationMeter?

    private let counts = NIOLockedValueBox<[Operation: Int]>([:])

    static func note(_ operation: Operation, times: Int = 1) {
        guard let current, times > 0 else { return }
        current.counts.withLockedValue { $0[operation, default: 0] += times }
    }

    /// Returns the counts since the last call.
    func take() -> [Operation: Int] {
        counts.withLockedValue { counts in
            defer { counts = [:] }
            return counts
        }
    }
}
