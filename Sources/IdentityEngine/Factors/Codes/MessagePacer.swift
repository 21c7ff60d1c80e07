internal import Crypto
internal import Foundation

/// Keeps messages to one number or address apart, whoever asks for them and for whichever account.
///
/// In memory and of this process; enrolments remember their own beside it. Bounded: when it is full, the oldest half is forgotten. Keys are
/// digests, so that a dump of the memory is no list of numbers. Safe from any thread.
final class MessagePacer: Sendable {
    /// Seconds in which so many messages go to one destination at most.
    private static let window: TimeInterval = 3_600
    private static let most = 12

    private struct Pace {
        var times: [Date]
        var lastRequest: String
    }

    private let paces = Locked<[TicketDigest: Pace]>([:])
    private let capacity: Int

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    /// Counts a message.
    ///
    /// - Parameters:
    ///   - channel: The way that it takes.
    ///   - key: Where it goes, or what stands for that.
    ///   - requestID: The request that it belongs to; asked again within one request, it is counted once.
    ///   - now: When.
    /// - Returns: Why it must not be sent; nil if it may.
    func refusal(_ channel: CodeChannel, to key: String, requestID: String, now: Date) -> CodeRefusal? {
        let digest = TicketDigest(of: "\(channel.rawValue) \(key)")
        return paces.withLock { paces in
            var pace = paces[digest] ?? Pace(times: [], lastRequest: "")
            if let last = pace.times.last, pace.lastRequest == requestID, last == now { return nil }
            pace.times.removeAll { $0 <= now.addingTimeInterval(-Self.window) }
            if let last = pace.times.last, now < last.addingTimeInterval(channel.pause) {
                return .tooSoon(channel, until: last.addingTimeInterval(channel.pause))
            }
            if pace.times.count >= Self.most, let first = pace.times.first {
                return .tooMany(channel, until: first.addingTimeInterval(Self.window))
            }
            pace.times.append(now)
            pace.lastRequest = requestID
            if paces.count >= capacity && paces[digest] == nil {
                let median = paces.values.compactMap(\.times.last).sorted()[paces.count / 2]
                paces = paces.filter { $0.value.times.last ?? .distantPast > median }
            }
            paces[digest] = pace
            return nil
        }
    }
}
