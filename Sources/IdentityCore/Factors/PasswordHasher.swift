/// Hashes and checks passwords on a few threads of its own. Scrypt takes about 100 ms and 32 MiB by design: it would block the cooperative
/// pool, and exhaust the memory without a limit. So there are `width` threads, started on demand, and a bounded queue in which callers take
/// turns (see ``HashingShare``). If the queue is full, the origin with the most waiting requests loses one. Safe from any task; a cancelled
/// task leaves the queue.
package final class PasswordHasher: Sendable {
    /// The error for a full queue.
    package struct Overloaded: Error, Sendable {}

    let threads: HashingThreads

    /// Creates a hasher without starting threads.
    /// - Parameters:
    ///   - width: The number of passwords hashed at the same time, 1 to 64.
    ///   - queueLimit: The maximum number of waiting callers, at least 1.
    package init(width: Int = 2, queueLimit: Int = 128) {
        threads = HashingThreads(width: min(max(width, 1), 64), queueLimit: max(queueLimit, 1))
    }

    /// The number of passwords that wait for a thread.
    package var waitingCount: Int { threads.waitingCount }

    deinit {
        threads.stop()
    }

    /// Hashes a new password. Returns the hash with its parameters and salt, `$scrypt$ln=15,r=8,p=1$…$…`. Throws ``Overloaded`` if too many
    /// callers wait.
    /// - Parameters:
    ///   - password: Composed and decomposed characters are equivalent.
    ///   - logN: The binary logarithm of the cost, 10 to 20; 15 uses 32 MiB.
    ///   - salt: 16 random bytes.
    package func hash(_ password: String, logN: Int, salt: [UInt8], for share: HashingShare = .server) async throws -> String {
        OperationMeter.note(.passwordHash, times: 1 << logN)
        return try await threads.run(for: share) { try PasswordHash(deriving: password, logN: logN, salt: salt).text }
    }

    /// Checks a password against a stored hash, with the hash's own parameters. Returns `false` for an unreadable hash. Throws
    /// ``Overloaded`` if too many callers wait.
    /// - Parameter logN: The policy's current cost. A wrong password takes this long even if the stored hash is cheaper, so that the
    ///   duration does not reveal whether a hash exists. `nil` uses the hash's own cost.
    package func verify(_ password: String, against hash: String, spending logN: Int? = nil, for share: HashingShare = .server) async throws
        -> Bool
    {
        guard let stored = PasswordHash(hash) else {
            if let logN { try await verifyNobody(password, logN: logN, for: share) }
            return false
        }
        let isRight = try await threads.run(for: share) {
            if try stored.matches(password) { return true }
            // Together with the check itself, these costs add up to 2^logN.
            for cost in stored.logN..<max(stored.logN, logN ?? 0) {
                _ = try PasswordHash(deriving: password, logN: cost, salt: Self.decoySalt)
            }
            return false
        }
        OperationMeter.note(.passwordHash, times: 1 << (isRight ? stored.logN : max(stored.logN, logN ?? 0)))
        return isRight
    }

    /// Does the work of a check for a user who does not exist or has no password, so that the duration does not reveal this. Throws
    /// ``Overloaded`` if too many callers wait.
    package func verifyNobody(_ password: String, logN: Int, for share: HashingShare = .server) async throws {
        OperationMeter.note(.passwordHash, times: 1 << logN)
        _ = try await threads.run(for: share) { try PasswordHash(deriving: password, logN: logN, salt: Self.decoySalt).hash }
    }

    private static let decoySalt = [UInt8](repeating: 0, count: 16)

    /// Whether a stored hash has other parameters than the policy requires.
    package static func needsRehash(_ hash: String, logN: Int) -> Bool {
        guard let stored = PasswordHash(hash) else { return true }
        return stored.logN != logN || stored.blockSize != 8 || stored.parallelism != 1
    }
}
