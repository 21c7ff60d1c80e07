internal import Foundation
public import Logging

/// Looks digests of new passwords up in lists of breached passwords: a file, a range endpoint, or both.
///
/// It fails open: a list that can't be asked, or not in time, counts as one that does not hold the password, and the log says so. The log shows
/// nothing of a password or of its digest. `Sendable`; safe from any task.
public final class BreachedPasswordCheck: Sendable {
    private let file: BreachedPasswordFile?
    private let range: PasswordRangeClient?
    private let logger: Logger

    /// Makes a check; it connects at the first question.
    ///
    /// - Parameters:
    ///   - file: A list on disk; `nil` for none.
    ///   - rangeURL: The address of a range endpoint before the prefix, such as `https://api.pwnedpasswords.com/range`; `nil` for none.
    ///   - timeout: How long the endpoint may take in all.
    ///   - timing: How it waits; by default the system's clock.
    ///   - logger: Where failures are logged.
    /// - Throws: ``BreachedPasswordError`` if the address will not do.
    public init(
        file: BreachedPasswordFile?, rangeURL: String?, timeout: Duration = .seconds(2), timing: PushTiming = .system, logger: Logger
    ) throws(BreachedPasswordError) {
        self.file = file
        self.logger = logger
        if let rangeURL {
            range = try PasswordRangeClient(base: rangeURL, timeout: timeout, sleep: timing.sleep)
        } else {
            range = nil
        }
    }

    /// Looks a digest up: in the file first, then at the endpoint.
    ///
    /// - Parameter sha1: The SHA-1 digest of the password, 20 bytes.
    /// - Returns: Whether a list holds it; false if none could be asked.
    public func contains(sha1: [UInt8]) async -> Bool {
        let digits = Array("0123456789ABCDEF".utf8)
        let digest = sha1.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        guard digest.count == 40 else { return false }
        if let file, await ask("the file", { try await file.contains(digest) }) { return true }
        if let range, await ask("the range endpoint", { try await range.contains(digest) }) { return true }
        return false
    }

    private func ask(_ name: String, _ question: () async throws -> Bool) async -> Bool {
        do {
            return try await question()
        } catch {
            // What TLS has to say may fill a page. The request's address never stands in it, which has digits of the digest.
            let reason = (error as? BreachedPasswordError)?.message ?? String("\(type(of: error)): \(error)".prefix(200))
            logger.warning(
                "a new password was not compared with breached ones", metadata: ["list": .string(name), "reason": .string(reason)])
            return false
        }
    }
}
