package import Foundation
package import Store

/// Tells clients that poll too fast to slow down (RFC 8628 section 3.5).
///
/// The interval counts from one poll to the next, not from an answer (CIBA Core 1.0 section 7.3): a poll that the server held for longer
/// than the interval may be followed by the next one at once.
///
/// In memory and of this process: a poll writes nothing. Bounded: when it is full, the oldest half is forgotten, whose clients then
/// get away with one fast poll. Safe from any thread.
package final class PollPacer: Sendable {
    /// Seconds between polls, as challenges announce them unless the server holds polls.
    package static let interval: TimeInterval = 5
    /// Seconds between polls, as challenges announce them if the server holds polls.
    ///
    /// Some clients, the official Swift client among them, sleep the interval after each answer and learn nothing meanwhile. A poll of theirs
    /// is held for five seconds: with this interval they wait for the decision in five of six seconds, and poll less than every five.
    package static let intervalOfHeldPolls: TimeInterval = 1
    /// Requests come a little early: timers and networks are not exact.
    private static let tolerance: TimeInterval = 0.5

    private struct Pace {
        var last: Date
        var interval: TimeInterval
    }

    private struct State {
        var interval = PollPacer.interval
        var paces: [TicketDigest: Pace] = [:]
    }

    private let state = Locked(State())
    private let capacity: Int

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    /// Seconds between polls, as challenges announce them now.
    package var interval: TimeInterval { state.withLock { $0.interval } }

    /// Announces the interval of held polls from now on.
    package func expectHeldPolls() { state.withLock { $0.interval = Self.intervalOfHeldPolls } }

    /// Resets every pace.
    func forgetAll() { state.withLock { $0.paces = [:] } }

    /// Counts a poll that found nothing.
    ///
    /// - Parameters:
    ///   - digest: What was polled with.
    ///   - now: When.
    /// - Returns: Whether it came too soon; then the interval has grown by five seconds.
    package func isTooFast(_ digest: TicketDigest, now: Date) -> Bool {
        state.withLock { state in
            var pace = state.paces[digest] ?? Pace(last: .distantPast, interval: state.interval)
            let isTooFast = now < pace.last.addingTimeInterval(pace.interval - Self.tolerance)
            if isTooFast { pace.interval += 5 }
            pace.last = now
            if state.paces.count >= capacity && state.paces[digest] == nil {
                let median = state.paces.values.map(\.last).sorted()[state.paces.count / 2]
                state.paces = state.paces.filter { $0.value.last > median }
            }
            state.paces[digest] = pace
            return isTooFast
        }
    }

    /// Requires the longer interval after a poll that the server could not hold, so that a server without free places is not asked every
    /// second.
    package func slowDown(_ digest: TicketDigest) {
        state.withLock { state in
            guard let interval = state.paces[digest]?.interval else { return }
            state.paces[digest]?.interval = max(interval, Self.interval)
        }
    }

    /// Forgets what is over.
    package func forget(_ digest: TicketDigest) {
        state.withLock { _ = $0.paces.removeValue(forKey: digest) }
    }
}
