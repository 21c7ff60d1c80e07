internal import Crypto
package import Foundation
internal import JOSE
internal import Store

/// Keeps messages to one number or address apart, and counts all together.
///
/// Each person has a share of their own in what goes to a number or an address: whoever names somebody else's number to set it up must not
/// use up the codes by which its owner signs in. All those together for whom a number is not confirmed have one more. What anybody can ask
/// for, to recover an account, is counted apart as well. In memory and of this process; enrolments remember their own beside it. Bounded: when
/// it is full, the oldest half is forgotten. Keys are digests, so that a dump of the memory is no list of numbers. Safe from any thread.
package final class MessagePacer: Sendable {
    /// Seconds in which so many messages go to one destination at most: twelve in all for a person.
    private static let window: TimeInterval = 3_600
    static func most(_ occasion: CodeMethod.Occasion) -> Int { occasion == .anybody ? 4 : 8 }
    /// The most in that time to a number that is not confirmed, for all who say that it is theirs: more than one of them can ask for.
    static let mostUnconfirmed = 12

    fileprivate struct Pace {
        var times: [Date]
        var lastRequest: String
    }

    fileprivate struct State {
        var paces: [TicketDigest: Pace] = [:]
        /// How many went to everybody in a minute.
        var minute = Int.min
        var count = 0
    }

    private let state = Locked(State())
    private let capacity: Int

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    /// Resets every count.
    func forgetAll() { state.withLock { $0 = State() } }

    /// Counts a message.
    ///
    /// - Parameters:
    ///   - channel: The way that it takes.
    ///   - key: Where it goes, or what stands for that.
    ///   - occasion: Who can ask for it.
    ///   - limit: How many may go to everybody in a minute; nil where none goes out.
    ///   - unconfirmed: The number, where it is not confirmed that it is theirs who asks; nil for every other destination.
    ///   - requestID: The request that it belongs to; asked again within one request, it is counted once.
    ///   - now: When.
    /// - Returns: Why it must not be sent; nil if it may.
    package func refusal(
        _ channel: CodeChannel, to key: String, _ occasion: CodeMethod.Occasion, limit: Int?, unconfirmed: String? = nil,
        requestID: String, now: Date
    ) -> CodeRefusal? {
        let digest = TicketDigest(of: "\(channel.rawValue) \(occasion.rawValue) \(key)")
        let common = unconfirmed.map { TicketDigest(of: "unconfirmed \($0)") }
        return state.withLock { state in
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

    /// Counts a message to anybody; returns when the next may follow if there were too many.
    fileprivate mutating func countToAll(_ limit: Int, _ now: Date) -> Date? {
        let current = Int(clamping: (now.timeIntervalSince1970 / 60).rounded(.down))
        if minute != current { (minute, count) = (current, 0) }
        guard count < limit else { return Date(clampingNumericDate: Double(current + 1) * 60) }
        count += 1
        return nil
    }
}
