internal import Crypto
internal import Foundation

/// Keeps messages to one number or address apart, whoever asks for them and for whichever account, and counts all together.
///
/// What anybody can ask for, to recover an account, has a share of its own: who asks for that again and again must not use up the codes by
/// which the person signs in. In memory and of this process; enrolments remember their own beside it. Bounded: when it is full, the oldest
/// half is forgotten. Keys are digests, so that a dump of the memory is no list of numbers. Safe from any thread.
final class MessagePacer: Sendable {
    /// Seconds in which so many messages go to one destination at most: twelve in all.
    private static let window: TimeInterval = 3_600
    static func most(_ occasion: CodeMethod.Occasion) -> Int { occasion == .anybody ? 4 : 8 }

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

    /// Counts a message.
    ///
    /// - Parameters:
    ///   - channel: The way that it takes.
    ///   - key: Where it goes, or what stands for that.
    ///   - occasion: Who can ask for it.
    ///   - limit: How many may go to everybody in a minute; nil where none goes out.
    ///   - requestID: The request that it belongs to; asked again within one request, it is counted once.
    ///   - now: When.
    /// - Returns: Why it must not be sent; nil if it may.
    func refusal(
        _ channel: CodeChannel, to key: String, _ occasion: CodeMethod.Occasion, limit: Int?, requestID: String, now: Date
    ) -> CodeRefusal? {
        let digest = TicketDigest(of: "\(channel.rawValue) \(occasion.rawValue) \(key)")
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
            if let limit, let until = state.countToAll(limit, now) { return .tooMany(channel, until: until) }
            pace.times.append(now)
            pace.lastRequest = requestID
            if state.paces.count >= capacity && state.paces[digest] == nil {
                let median = state.paces.values.compactMap(\.times.last).sorted()[state.paces.count / 2]
                state.paces = state.paces.filter { $0.value.times.last ?? .distantPast > median }
            }
            state.paces[digest] = pace
            return nil
        }
    }
}

extension MessagePacer.State {
    /// Counts a message to anybody; returns when the next may follow if there were too many.
    fileprivate mutating func countToAll(_ limit: Int, _ now: Date) -> Date? {
        let current = Int((now.timeIntervalSince1970 / 60).rounded(.down))
        if minute != current { (minute, count) = (current, 0) }
        guard count < limit else { return Date(timeIntervalSince1970: Double(current + 1) * 60) }
        count += 1
        return nil
    }
}
