internal import Foundation
package import Logging
internal import NIOConcurrencyHelpers

/// Looks up digests of new passwords in lists of breached passwords: a file, a range endpoint, or both.
///
/// It fails open: a list that can't be asked, or not in time, counts as one that does not hold the password, and the log says so. The log shows
/// nothing of a password or of its digest. After three failures in a row, the range endpoint is not asked for a minute, so that the passwords of
/// an org file do not wait for one timeout each. `Sendable`; safe from any task.
package final class BreachedPasswordCheck: Sendable {
    private static let mostFailures = 3
    private static let pauseSeconds = 60

    /// The range endpoint's failures since its last answer, and until when it is not asked.
    private struct Outage {
        var failures = 0
        var end = Date.distantPast
    }

    private let outage = NIOLockedValueBox(Outage())
    private let now: @Sendable () -> Date
    private let file: BreachedPasswordFile?
    private let range: PasswordRangeClient?
    private let logger: Logger

    /// Creates a check; it connects at the first lookup.
    ///
    /// - Parameters:
    ///   - file: A list on disk; `nil` for none.
    ///   - rangeURL: The address of a range endpoint before the prefix, such as `https://api.pwnedpasswords.com/range`; `nil` for none.
    ///   - timeout: The total timeout of a lookup at the endpoint.
    ///   - timing: The time, and how it waits; by default the system's clock.
    ///   - logger: Where failures are logged.
    /// - Throws: ``BreachedPasswordError`` if the address is invalid.
    package init(
        file: BreachedPasswordFile?, rangeURL: String?, timeout: Duration = .seconds(2), timing: PushTiming = .system, logger: Logger
    ) throws(BreachedPasswordError) {
        self.file = file
        self.logger = logger
        now = timing.now
        if let rangeURL {
            range = try PasswordRangeClient(base: rangeURL, timeout: timeout, sleep: timing.sleep)
        } else {
            range = nil
        }
    }

    /// Looks up a digest: in the file first, then at the endpoint.
    ///
    /// - Parameter sha1: The SHA-1 digest of the password, 20 bytes.
    /// - Returns: Whether a list contains it; `false` if no list is available.
    package func contains(sha1: [UInt8]) async -> Bool {
        let digits = Array("0123456789ABCDEF".utf8)
        let digest = sha1.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        guard digest.count == 40 else { return false }
        if let file, await ask("the file", { try await file.contains(digest) }) { return true }
        guard let range, now() >= outage.withLockedValue({ $0.end }) else { return false }
        return await ask("the range endpoint") {
            do {
                let isFound = try await range.contains(digest)
                outage.withLockedValue { $0 = Outage() }
                return isFound
            } catch {
                noteFailure()
                throw error
            }
        }
    }

    private func noteFailure() {
        let now = now()
        let isPausing = outage.withLockedValue { outage in
            outage.failures += 1
            // Questions that were under way when the pause began do not extend it.
            guard outage.failures >= Self.mostFailures, outage.end <= now else { return false }
            outage.end = now.addingTimeInterval(TimeInterval(Self.pauseSeconds))
            return true
        }
        guard isPausing else { return }
        logger.warning(
            "the range endpoint failed several times in a row and is not asked for \(Self.pauseSeconds) seconds; new passwords are not compared with it"
        )
    }

    private func ask(_ name: String, _ question: () async throws -> Bool) async -> Bool {
        do {
            return try await question()
        } catch {
            // TLS errors can be very long. They never contain the request's URL, which includes digits of the digest.
            let reason = (error as? BreachedPasswordError)?.message ?? String("\(type(of: error)): \(error)".prefix(200))
            logger.warning(
                "a new password was not compared with breached ones", metadata: ["list": .string(name), "reason": .string(reason)])
            return false
        }
    }
}

/// The error for a list of breached passwords that can't be used. Its message says what to do, and shows nothing of a password.
package struct BreachedPasswordError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What happened, then what to do.
    package let message: String
    /// The same as ``message``.
    package var description: String { message }

    init(_ message: String) { self.message = message }
}
