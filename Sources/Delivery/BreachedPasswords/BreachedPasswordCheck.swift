internal import Foundation
internal import JOSE
package import Logging
internal import NIOConcurrencyHelpers

/// Looks up digests of new passwords in lists of breached passwords: a file, a range endpoint, or both. It fails open: an unavailable list
/// counts as a list without the password, and a warning is logged. Logs show nothing of a password or its digest. After three failures in a
/// row, the range endpoint is not queried for a minute, so that applying an org file does not wait for one timeout per password. Safe from
/// any task.
package final class BreachedPasswordCheck: Sendable {
    private static let mostFailures = 3
    private static let pauseSeconds = 60

    /// The failures of the range endpoint.
    private struct Outage {
        /// The number of failures since the last response.
        var failures = 0
        /// The end of the pause; a time in the past for none.
        var end = Date.distantPast
    }

    private let outage = NIOLockedValueBox(Outage())
    private let now: @Sendable () -> Date
    private let file: BreachedPasswordFile?
    private let range: PasswordRangeClient?
    private let logger: Logger

    /// Creates a check, which connects at the first lookup. Throws ``BreachedPasswordError`` for an invalid address.
    /// - Parameters:
    ///   - file: A list on disk; `nil` for none.
    ///   - rangeURL: The address of a range endpoint before the prefix, such as `https://api.pwnedpasswords.com/range`; `nil` for none.
    ///   - timeout: The timeout of a whole lookup at the endpoint.
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

    /// Returns whether a list contains the SHA-1 digest (20 bytes) of a password; `false` if no list is available. The file is searched
    /// first.
    package func contains(sha1: [UInt8]) async -> Bool {
        let digest = Array(sha1.hexadecimal.uppercased().utf8)
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
            // Lookups in progress when the pause began do not extend it.
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

/// The error for a list of breached passwords that cannot be used. It contains no part of a password.
package struct BreachedPasswordError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The problem and its solution.
    package let message: String
    package var description: String { message }

    init(_ message: String) { self.message = message }
}
