internal import Crypto
package import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers
internal import Store

/// Limits messages per number or address, and for all users together. In memory, in this process only; enrolments have their own limits in
/// addition.
/// - Each user has their own limit for a number or address, so that another user who enters the number cannot exhaust its owner's limit.
/// - All users for whom a number is unconfirmed share one more limit.
/// - Recovery messages, which any caller can request, are counted separately.
/// - Bounded: when full, the oldest half is evicted. Keys are digests, so that a memory dump reveals no numbers. Safe from any thread.
package final class MessagePacer: Sendable {
    /// The window in seconds for the limits per destination. A user gets at most 12 messages in it, for all occasions together.
    private static let window: TimeInterval = 3_600
    static func most(_ occasion: SentCodeMethod.Occasion) -> Int { occasion == .anybody ? 4 : 8 }
    /// The maximum in that window to an unconfirmed number, for all users together. Higher than the limit of one user.
    static let mostUnconfirmed = 12

    fileprivate struct Pace {
        var times: [Date]
        var lastRequest: String
    }

    fileprivate struct State {
        var paces: [TicketDigest: Pace] = [:]
        /// The current minute and its number of messages to all users.
        var minute = Int.min
        var count = 0
    }

    private let state = NIOLockedValueBox(State())
    private let capacity: Int

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    func forgetAll() { state.withLockedValue { $0 = State() } }

    /// Counts a message. Returns the reason why it must not be sent; `nil` if it may.
    /// - Parameters:
    ///   - key: The destination, or a substitute for it.
    ///   - limit: The maximum number of messages per minute to all users; `nil` if no message is sent.
    ///   - unconfirmed: The number, if the user has not confirmed it; otherwise `nil`.
    ///   - requestID: Repeated calls within one request count once.
    package func refusal(
        _ channel: CodeChannel, to key: String, _ occasion: SentCodeMethod.Occasion, limit: Int?, unconfirmed: String? = nil,
        requestID: String, now: Date
    ) -> CodeRefusal? {
        let digest = TicketDigest(of: "\(channel.rawValue) \(occasion.rawValue) \(key)")
        let common = unconfirmed.map { TicketDigest(of: "unconfirmed \($0)") }
        return state.withLockedValue { state in
            var pace = state.paces[digest] ?? Pace(times: [], lastRequest: "")
            if let last = pace.times.last, pace.lastRequest == requestID, last == now { return nil }
            pace.times.removeAll { $0 <= now.addingTimeInterval(-Self.window) }
            if let last = pace.times.last, now < last.addingTimeInterval(channel.pause) {
                return .tooSoon(channel, until: last.addingTimeInterval(channel.pause))
            }
            if pace.times.count >= Self.most(occasion), let first = pace.times.first {
                return .tooMany(channel, until: first.addingTimeInterval(Self.window))
            }
            var shared = common.flatMap { state.paces[$0] } ?? Pace(times: [], lastRequest: "")
            shared.times.removeAll { $0 <= now.addingTimeInterval(-Self.window) }
            if common != nil, shared.times.count >= Self.mostUnconfirmed, let first = shared.times.first {
                return .tooMany(channel, until: first.addingTimeInterval(Self.window))
            }
            if let limit, let until = state.countToAll(limit, now) { return .tooMany(channel, until: until) }
            pace.times.append(now)
            pace.lastRequest = requestID
            state.keep(pace, as: digest, capacity: capacity)
            if let common {
                shared.times.append(now)
                state.keep(shared, as: common, capacity: capacity)
            }
            return nil
        }
    }
}

extension MessagePacer.State {
    fileprivate mutating func keep(_ pace: MessagePacer.Pace, as digest: TicketDigest, capacity: Int) {
        if paces.count >= capacity && paces[digest] == nil {
            let median = paces.values.compactMap(\.times.last).sorted()[paces.count / 2]
            paces = paces.filter { $0.value.times.last ?? .distantPast > median }
        }
        paces[digest] = pace
    }

    /// Counts a message towards the limit for all users. Returns when the next may follow if the limit is reached.
    fileprivate mutating func countToAll(_ limit: Int, _ now: Date) -> Date? {
        let current = Int(clamping: (now.timeIntervalSince1970 / 60).rounded(.down))
        if minute != current { (minute, count) = (current, 0) }
        guard count < limit else { return Date(clampingNumericDate: Double(current + 1) * 60) }
        count += 1
        return nil
    }
}
