package import Foundation
internal import NIOConcurrencyHelpers
package import Store

/// Tells clients that poll too fast to slow down (RFC 8628 section 3.5). The interval counts from one poll to the next, not from a response
/// (CIBA Core 1.0 section 7.3). After a poll that the server held for longer than the interval, the next may follow at once. State is in
/// memory, in this process only, because polls must not write. The state is limited: at the limit, the oldest half is evicted, and each of
/// the evicted clients can poll too fast once. Safe from any thread.
package final class PollPacer: Sendable {
    /// Seconds between polls that challenges announce if the server does not hold polls.
    package static let interval: TimeInterval = 5
    /// Seconds between polls that challenges announce if the server holds polls. Some clients, such as the official Swift client, sleep for
    /// the interval after each response. The server holds their polls for five seconds. With this interval, such a client polls every six
    /// seconds and waits for the decision during five of them.
    package static let intervalOfHeldPolls: TimeInterval = 1
    /// The number of seconds by which a poll may be early, because timers and networks are inexact.
    private static let tolerance: TimeInterval = 0.5

    private struct Pace {
        var last: Date
        var interval: TimeInterval
    }

    private struct State {
        var interval = PollPacer.interval
        var paces: [TicketDigest: Pace] = [:]
    }

    private let state = NIOLockedValueBox(State())
    private let capacity: Int

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    /// Seconds between polls that challenges announce now.
    package var interval: TimeInterval { state.withLockedValue { $0.interval } }

    /// Announces the interval of held polls from now on.
    package func expectHeldPolls() { state.withLockedValue { $0.interval = Self.intervalOfHeldPolls } }

    func forgetAll() { state.withLockedValue { $0.paces = [:] } }

    /// Counts a poll without a result, by the digest of its token. Returns whether the poll came too early. An early poll adds five seconds
    /// to the interval of its token.
    package func isTooFast(_ digest: TicketDigest, now: Date) -> Bool {
        state.withLockedValue { state in
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

    /// Requires the longer interval after a poll that the server could not hold, so that clients do not poll a server without free capacity
    /// every second. Returns whether the interval grew.
    package func slowDown(_ digest: TicketDigest) -> Bool {
        state.withLockedValue { state in
            guard let interval = state.paces[digest]?.interval, interval < Self.interval else { return false }
            state.paces[digest]?.interval = Self.interval
            return true
        }
    }

    /// Removes the state of a token whose transaction has ended.
    package func forget(_ digest: TicketDigest) {
        state.withLockedValue { _ = $0.paces.removeValue(forKey: digest) }
    }
}
