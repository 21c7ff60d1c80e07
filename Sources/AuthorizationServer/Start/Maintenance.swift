internal import Foundation
internal import IdentityCore
internal import Logging
internal import ServerHTTP

/// Rotates signing keys and removes expired records, at start and then at an interval by the server's clock.
struct Maintenance: Sendable {
    let engine: Engine
    let clock: any WallClock
    let logger: Logger
    let identifiers: RequestIdentifiers
    let interval: Duration
    let readiness: Readiness

    /// The maximum number of rows removed per transaction. It is small, so that requests do not wait long.
    private static let batch = 500

    /// Runs until the task is cancelled. Logs failures and retries in the next round.
    func run() async {
        var watch = ClockWatch()
        while !Task.isCancelled {
            // The preparation creates the keys. Before that, the tables may be missing or of another version.
            if readiness.isPrepared { await round(isRemoving: permitsRemoval(&watch)) }
            do {
                try await clock.sleep(for: interval)
            } catch {
                return
            }
        }
    }

    /// Notes a correction of the clock in the log. Returns whether expired rows may be removed.
    private func permitsRemoval(_ watch: inout ClockWatch) -> Bool {
        guard let uptime = clock.uptime else { return true }
        if let change = watch.note(clock.now, uptime: uptime) {
            let seconds = Logger.Metadata(dictionaryLiteral: ("seconds", .stringConvertible(Int(change))))
            if change > 0 {
                logger.warning(
                    "the clock was set forward. Expired rows are kept for an hour. If the time is wrong, correct it before",
                    metadata: seconds)
            } else {
                logger.warning(
                    "the clock was set back. Locks last longer by that time: unlock users with countersign users unlock", metadata: seconds)
            }
        }
        return watch.permitsRemoval(uptime: uptime)
    }

    private func round(isRemoving: Bool) async {
        let context = RequestContext(now: clock.now, requestID: identifiers.next())
        do {
            for change in try await engine.maintainKeys(context) {
                logger.notice("signing key changed", metadata: ["key": .string(change.keyID), "action": .string("\(change.action)")])
            }
            var removed = 0
            var last = Self.batch
            while isRemoving, last == Self.batch, !Task.isCancelled {
                // The time of each step: after the clock was set back, a later time would remove valid records.
                last = try await engine.removeExpired(now: clock.now, limit: Self.batch)
                removed += last
            }
            if removed > 0 { logger.info("expired records removed", metadata: ["count": .stringConvertible(removed)]) }
        } catch {
            logger.error("maintenance failed; it is tried again", metadata: ["error": .string("\(error)")])
        }
    }
}

/// Finds corrections of the wall clock, by a clock that they do not change. After the clock was set forward, nothing is removed for an
/// hour: if the new time is wrong, the removal would forget used assertions, and delete the system log.
struct ClockWatch {
    /// Corrections of at most this number of seconds are ignored.
    private static let tolerance: TimeInterval = 300
    private static let pause = Duration.seconds(3_600)

    /// The wall clock's lead over the other clock, in seconds.
    private var lead: TimeInterval?
    private var pausedUntil: Duration?

    /// Returns the correction since the last call in seconds, negative if the clock was set back; `nil` if there was none.
    mutating func note(_ now: Date, uptime: Duration) -> TimeInterval? {
        let lead = now.timeIntervalSince1970 - TimeInterval(uptime.components.seconds)
        let change = lead - (self.lead ?? lead)
        self.lead = lead
        guard abs(change) > Self.tolerance else { return nil }
        pausedUntil = change > 0 ? uptime + Self.pause : nil
        return change
    }

    func permitsRemoval(uptime: Duration) -> Bool { pausedUntil.map { uptime >= $0 } ?? true }
}
