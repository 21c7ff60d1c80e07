internal import Foundation

/// Tells clients that poll too fast to slow down (RFC 8628 section 3.5).
///
/// In memory and of this process: a poll writes nothing. Bounded: when it is full, the oldest half is forgotten, whose clients then
/// get away with one fast poll. Safe from any thread.
final class PollPacer: Sendable {
    /// Seconds between polls, as the challenge announces them.
    static let interval: TimeInterval = 5
    /// Requests come a little early: timers and networks are not exact.
    private static let tolerance: TimeInterval = 0.5

    private struct Pace {
        var last: Date
        var interval: TimeInterval
    }

    private let paces = Locked<[TicketDigest: Pace]>([:])
    private let capacity: Int

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    /// Resets every pace.
    func forgetAll() { paces.withLock { $0 = [:] } }

    /// Counts a poll that found nothing.
    ///
    /// - Parameters:
    ///   - digest: What was polled with.
    ///   - now: When.
    /// - Returns: Whether it came too soon; then the interval has grown by five seconds.
    func isTooFast(_ digest: TicketDigest, now: Date) -> Bool {
        paces.withLock { paces in
            var pace = paces[digest] ?? Pace(last: .distantPast, interval: Self.interval)
            let isTooFast = now < pace.last.addingTimeInterval(pace.interval - Self.tolerance)
            if isTooFast { pace.interval += 5 }
            pace.last = now
            if paces.count >= capacity && paces[digest] == nil {
                let median = paces.values.map(\.last).sorted()[paces.count / 2]
                paces = paces.filter { $0.value.last > median }
            }
            paces[digest] = pace
            return isTooFast
        }
    }

    /// Forgets what is over.
    func forget(_ digest: TicketDigest) {
        paces.withLock { _ = $0.removeValue(forKey: digest) }
    }
}
