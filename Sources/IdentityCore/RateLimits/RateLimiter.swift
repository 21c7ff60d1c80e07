package import Foundation
internal import JOSE
internal import Store

/// Where a limit stands after a request; the numbers of the `x-rate-limit-*` headers.
package struct RateLimitStatus: Sendable, Equatable {
    /// Requests that are allowed in a window.
    package var limit: Int
    /// Requests that are left in this one.
    package var remaining: Int
    /// When the next window begins.
    package var reset: Date
    /// Whether the request that was counted is within the limit.
    package var isAdmitted: Bool

    /// Describes where a limit stands.
    package init(limit: Int, remaining: Int, reset: Date, isAdmitted: Bool) {
        self.limit = limit
        self.remaining = remaining
        self.reset = reset
        self.isAdmitted = isAdmitted
    }
}

/// Counts requests by subject in windows of one minute.
///
/// In memory and of this process: after a restart, or on a second server, counting begins anew. Windows begin at full
/// minutes, so one clearing forgets the last window whole; memory is bounded by the subjects of one minute, and beyond
/// `capacity` by counters that several subjects share. Safe from any thread; the lock is held for one look-up.
package final class RateLimiter: Sendable {
    /// Whose requests are counted.
    package enum Subject: Hashable, Sendable {
        case client(String)
        case address(String)
        /// The sign-ins from an address.
        case signIns(String)
        /// The sign-ins on pages that are begun from an address.
        case beginnings(String)
        case user(String)
        /// The answers to a challenge.
        case challenge(String)
        /// The user codes that were entered, from one address or from all.
        case userCodes(String)
        /// The polls of one sign-in.
        case polls(String)
        /// What is noted of refusals, by what was refused and to whom.
        case refusals(String)
        case shared(Int)
    }

    private struct Window {
        var minute: Int = .min
        var counts: [Subject: Int] = [:]
    }

    private let window = Locked(Window())
    private let capacity: Int

    init(capacity: Int = 100_000) {
        self.capacity = capacity
    }

    /// Resets every count.
    func forgetAll() { window.withLock { $0 = Window() } }

    /// Counts one request.
    ///
    /// - Parameters:
    ///   - subject: Whose it is.
    ///   - limit: How many are allowed in a minute.
    ///   - now: When it arrived.
    /// - Returns: Where the limit stands after it.
    package func count(_ subject: Subject, limit: Int, now: Date) -> RateLimitStatus {
        let minute = Int(clamping: (now.timeIntervalSince1970 / 60).rounded(.down))
        let used = window.withLock { window in
            if window.minute != minute {
                window.minute = minute
                window.counts.removeAll(keepingCapacity: window.counts.count < 1_000)
            }
            var subject = subject
            if window.counts.count >= capacity && window.counts[subject] == nil {
                subject = .shared(abs(subject.hashValue % 1_024))
            }
            // A counter that is far over its limit stands still: nothing is gained by counting on.
            let used = min(window.counts[subject, default: 0], limit) + 1
            window.counts[subject] = used
            return used
        }
        return RateLimitStatus(
            limit: limit, remaining: max(0, limit - used), reset: Date(clampingNumericDate: Double(minute + 1) * 60),
            isAdmitted: used <= limit)
    }
}
