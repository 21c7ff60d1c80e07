package import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// The state of a limit after a request, as sent in the `x-rate-limit-*` headers.
package struct RateLimitStatus: Sendable, Equatable {
    /// The number of requests allowed per window.
    package var limit: Int
    /// The number of requests left in this window.
    package var remaining: Int
    /// The time when the next window begins.
    package var reset: Date
    /// Whether the counted request is within the limit.
    package var isAdmitted: Bool

    package init(limit: Int, remaining: Int, reset: Date, isAdmitted: Bool) {
        (self.limit, self.remaining, self.reset, self.isAdmitted) = (limit, remaining, reset, isAdmitted)
    }
}

/// Counts requests per subject in windows of one minute, in memory and in this process only. Windows begin at full minutes, when all counts
/// are cleared together. Memory is bounded by the subjects of one minute; beyond `capacity`, several subjects share a counter. Safe from
/// any thread; the lock is held for one look-up.
package final class RateLimiter: Sendable {
    /// The subject whose requests are counted.
    package enum Subject: Hashable, Sendable {
        case client(String)
        case address(String)
        /// The sign-in attempts from an address.
        case signIns(String)
        /// The sign-ins that start on the hosted pages from an address.
        case beginnings(String)
        case user(String)
        /// The responses to a challenge.
        case challenge(String)
        /// The user codes entered, from one address or from all.
        case userCodes(String)
        /// The polls of one sign-in.
        case polls(String)
        /// The log entries about rejected requests, by reason, from one address or from all.
        case refusals(String)
        case shared(Int)
    }

    private struct Window {
        var minute: Int = .min
        var counts: [Subject: Int] = [:]
    }

    private let window = NIOLockedValueBox(Window())
    private let capacity: Int

    init(capacity: Int = 100_000) {
        self.capacity = capacity
    }

    func forgetAll() { window.withLockedValue { $0 = Window() } }

    /// Counts one request and returns the state of the limit.
    /// - Parameter limit: The number of requests allowed per minute.
    package func count(_ subject: Subject, limit: Int, now: Date) -> RateLimitStatus {
        let minute = Int(clamping: (now.timeIntervalSince1970 / 60).rounded(.down))
        let used = window.withLockedValue { window in
            if window.minute != minute {
                window.minute = minute
                window.counts.removeAll(keepingCapacity: window.counts.count < 1_000)
            }
            var subject = subject
            if window.counts.count >= capacity && window.counts[subject] == nil {
                subject = .shared(abs(subject.hashValue % 1_024))
            }
            // The counter stops just above the limit.
            let used = min(window.counts[subject, default: 0], limit) + 1
            window.counts[subject] = used
            return used
        }
        return RateLimitStatus(
            limit: limit, remaining: max(0, limit - used), reset: Date(clampingNumericDate: Double(minute + 1) * 60),
            isAdmitted: used <= limit)
    }
}
