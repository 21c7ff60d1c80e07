/// Hashes and checks passwords on a few threads of its own.
///
/// Scrypt takes some 100 ms and 32 MiB by intent: on the cooperative pool it would stop everything else, unbounded it
/// would eat the memory. So there are `width` threads, started when first needed, and a bounded queue in which callers take turns (see
/// ``HashingShare``). A full queue refuses the caller with the most waiting requests.
/// Safe from any task; a task that is cancelled while it waits gives up its place.
package final class PasswordHasher: Sendable {
    /// The queue was full.
    package struct Overloaded: Error, Sendable {}

    let threads: HashingThreads

    /// Makes a hasher; no thread is started yet.
    ///
    /// - Parameters:
    ///   - width: How many passwords are hashed at the same time, 1 to 64.
    ///   - queueLimit: How many may wait beside those before callers are refused, at least 1.
    package init(width: Int = 2, queueLimit: Int = 128) {
        threads = HashingThreads(width: min(max(width, 1), 64), queueLimit: max(queueLimit, 1))
    }

    deinit {
        threads.stop()
    }

    /// Hashes a new password.
    ///
    /// - Parameters:
    ///   - password: The password; composed and decomposed accents are the same.
    ///   - logN: The cost as a power of two, 10 to 20; 15 takes 32 MiB.
    ///   - salt: 16 random bytes.
    ///   - share: The caller's share of the queue.
    /// - Returns: The hash with its parameters and salt, `$scrypt$ln=15,r=8,p=1$…$…`.
    /// - Throws: ``Overloaded`` when too many wait; `CancellationError`.
    package func hash(_ password: String, logN: Int, salt: [UInt8], for share: HashingShare = .server) async throws -> String {
        OperationMeter.note(.passwordHash, times: 1 << logN)
        return try await threads.run(for: share) { try PasswordHash(deriving: password, logN: logN, salt: salt).text }
    }

    /// Checks a password against a stored hash, with the hash's own parameters.
    ///
    /// - Parameters:
    ///   - password: What somebody typed.
    ///   - hash: The stored hash.
    ///   - logN: The cost that the policy asks for now. A wrong password takes as long as that, though the hash is older and
    ///     cheaper: its time must not tell that there is one. Nil takes the hash's own time.
    ///   - share: The caller's share of the queue.
    /// - Returns: Whether it is the password; false for a hash that can not be read.
    /// - Throws: ``Overloaded`` when too many wait; `CancellationError`.
    package func verify(_ password: String, against hash: String, spending logN: Int? = nil, for share: HashingShare = .server) async throws
        -> Bool
    {
        guard let stored = PasswordHash(hash) else {
            if let logN { try await verifyNobody(password, logN: logN, for: share) }
            return false
        }
        let isRight = try await threads.run(for: share) {
            if try stored.matches(password) { return true }
            // Each power is as much as all below it, and the check itself was the first.
            for cost in stored.logN..<max(stored.logN, logN ?? 0) {
                _ = try PasswordHash(deriving: password, logN: cost, salt: Self.nobodysSalt)
            }
            return false
        }
        OperationMeter.note(.passwordHash, times: 1 << (isRight ? stored.logN : max(stored.logN, logN ?? 0)))
        return isRight
    }

    /// Spends what a check would, for somebody who has no password to check: who does not exist answers as late as who does.
    ///
    /// - Parameters:
    ///   - password: What somebody typed.
    ///   - logN: The cost that the policy asks for.
    ///   - share: The caller's share of the queue.
    /// - Throws: ``Overloaded`` when too many wait; `CancellationError`.
    package func verifyNobody(_ password: String, logN: Int, for share: HashingShare = .server) async throws {
        OperationMeter.note(.passwordHash, times: 1 << logN)
        _ = try await threads.run(for: share) { try PasswordHash(deriving: password, logN: logN, salt: Self.nobodysSalt).hash }
    }

    private static let nobodysSalt = [UInt8](repeating: 0, count: 16)

    /// Whether a stored hash was made with other parameters than the policy asks for now.
    ///
    /// - Parameters:
    ///   - hash: The stored hash.
    ///   - logN: The cost that the policy asks for.
    /// - Returns: True if it should be made anew when the password is next at hand.
    package static func needsRehash(_ hash: String, logN: Int) -> Bool {
        guard let stored = PasswordHash(hash) else { return true }
        return stored.logN != logN || stored.blockSize != 8 || stored.parallelism != 1
    }
}
