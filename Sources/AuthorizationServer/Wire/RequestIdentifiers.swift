internal import NIOConcurrencyHelpers

/// Makes the ids of requests: unique within a server's life by a counter, between lives and servers by a random start.
///
/// An id names a line of the log and is no secret.
final class RequestIdentifiers: Sendable {
    private let prefix: String
    private let count = NIOLockedValueBox(UInt64(0))

    /// Makes a source of ids.
    /// - Parameter seed: Random, anew for every start of a server.
    init(seed: UInt64) {
        let text = String(seed, radix: 36)
        prefix = String(repeating: "0", count: max(0, 13 - text.count)) + text
    }

    /// The next id: letters and digits.
    func next() -> String {
        let number = count.withLockedValue { count in
            count += 1
            return count
        }
        return prefix + String(number, radix: 36)
    }
}
