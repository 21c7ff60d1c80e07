internal import Crypto
package import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers
package import Store

/// Limits messages per number or address, and for all users together; enrolments have their own limits in addition.
/// - Each user has their own limit for a number or address, so that another user who enters the number cannot exhaust its owner's limit.
/// - All users for whom a number is unconfirmed share one more limit.
/// - Recovery messages, which any caller can request, are counted separately.
///
/// The counts are records, which the commit that sends a message writes. So the limits are exact for all servers of a database. A decision
/// uses the counts that this process knows. If another server has counted meanwhile, the commit conflicts, the runner reads the counts and
/// decides again. Keys are digests, so that a copy of the database reveals no numbers. Bounded: when full, the oldest half of the known counts
/// is forgotten, which costs one conflict each. Safe from any thread.
package final class MessagePacer: Sendable {
    /// The window in seconds for the limits per destination. A user gets at most 12 messages in it, for all occasions together.
    private static let window: TimeInterval = 3_600
    static func most(_ occasion: SentCodeMethod.Occasion) -> Int { occasion == .anybody ? 4 : 8 }
    /// The maximum in that window to an unconfirmed number, for all users together. Higher than the limit of one user.
    static let mostUnconfirmed = 12
    /// The count of all messages is divided into parts of this many messages a minute, so that concurrent messages seldom conflict.
    private static let part = 25
    private static let mostParts = 16

    /// The messages of one key that count, the latest last.
    private struct Count: Codable {
        var times: [Date]
        /// The version of the record; 0 if there is none.
        var version: Int64 = 0

        private enum CodingKeys: String, CodingKey { case times }
    }

    private let known = NIOLockedValueBox<[String: Count]>([:])
    private let capacity: Int

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    func forgetAll() { known.withLockedValue { $0 = [:] } }

    /// Returns the changes that count a message; commit them with it. Throws the reason why it must not be sent.
    /// - Parameters:
    ///   - key: The destination, or a substitute for it.
    ///   - limit: The maximum number of messages per minute to all users; `nil` if no message is sent.
    ///   - unconfirmed: The number, if the user has not confirmed it; otherwise `nil`.
    package func count(
        _ channel: CodeChannel, to key: String, _ occasion: SentCodeMethod.Occasion, limit: Int?, unconfirmed: String? = nil, now: Date
    ) throws -> [Change] {
        let id = Self.id("\(channel.rawValue) \(occasion.rawValue) \(key)")
        let common = unconfirmed.map { Self.id("unconfirmed \($0)") }
        let (own, shared) = known.withLockedValue { known in (known[id], common.flatMap { known[$0] }) }
        var counted = try Self.counting(own, most: Self.most(occasion), pause: channel.pause, channel, now)
        var changes = [try Self.change(id, counted, expiresAt: now.addingTimeInterval(Self.window))]
        if let common {
            counted = try Self.counting(shared, most: Self.mostUnconfirmed, pause: 0, channel, now)
            changes.append(try Self.change(common, counted, expiresAt: now.addingTimeInterval(Self.window)))
        }
        if let limit { changes.append(try countToAll(channel, limit: limit, startingAt: id, now: now)) }
        return changes
    }

    /// Returns changes that count no message but cost the same as those of ``count(_:to:_:limit:unconfirmed:now:)``, for a user name without a
    /// destination.
    func decoy(_ channel: CodeChannel, for name: String, now: Date) throws -> [Change] {
        try ["decoy \(channel.rawValue) \(name)", "decoy part \(name)"].map { key in
            let id = Self.id(key)
            var count = known.withLockedValue { $0[id] } ?? Count(times: [])
            count.times = Array(count.times.suffix(7)) + [now]
            return try Self.change(id, count, expiresAt: now.addingTimeInterval(Self.window))
        }
    }

    private static func counting(
        _ known: Count?, most: Int, pause: TimeInterval, _ channel: CodeChannel, _ now: Date
    ) throws(CodeRefusal) -> Count {
        var count = known ?? Count(times: [])
        count.times.removeAll { $0 <= now.addingTimeInterval(-window) }
        if let last = count.times.last, now < last.addingTimeInterval(pause) {
            throw .tooSoon(channel, until: last.addingTimeInterval(pause))
        }
        if count.times.count >= most, let first = count.times.first { throw .tooMany(channel, until: first.addingTimeInterval(window)) }
        count.times.append(now)
        return count
    }

    /// Counts a message towards the limit for all users, in the first part with room. The limits of the parts add up to the whole limit.
    private func countToAll(_ channel: CodeChannel, limit: Int, startingAt id: String, now: Date) throws -> Change {
        let minute = Int(clamping: (now.timeIntervalSince1970 / 60).rounded(.down))
        let end = Date(clampingNumericDate: Double(minute + 1) * 60)
        let parts = min(max(limit / Self.part, 1), Self.mostParts)
        let start = id.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % parts
        for part in (start..<(start + parts)).map({ $0 % parts }) {
            let most = limit / parts + (part < limit % parts ? 1 : 0)
            let key = Self.id("all \(minute) \(parts) \(part)")
            var count = known.withLockedValue { $0[key] } ?? Count(times: [])
            guard count.times.count < most else { continue }
            count.times.append(now)
            return try Self.change(key, count, expiresAt: end.addingTimeInterval(60))
        }
        throw CodeRefusal.tooMany(channel, until: end)
    }

    private static func id(_ key: String) -> String { Base64URL.encode(TicketDigest(of: key).bytes) }

    private static func change(_ id: String, _ count: Count, expiresAt: Date) throws -> Change {
        .put(
            Record(
                kind: .limitCount, id: id, version: count.version, expiresAt: expiresAt, payload: try RecordCoding.encode(count)))
    }

    /// Remembers the counts that a commit wrote.
    func remember(writtenBy changes: [Change]) {
        for case .put(let record) in changes where record.kind == .limitCount {
            guard var count = try? RecordCoding.decode(Count.self, from: record) else { continue }
            count.version = record.version + 1
            keep(count, as: record.id)
        }
    }

    /// Reads the counts that a commit could not write, because another server may have written them.
    func readAgain(_ changes: [Change], from store: any Store) async throws {
        let ids = changes.compactMap { change in
            if case .put(let record) = change, record.kind == .limitCount { record.id } else { nil }
        }
        guard !ids.isEmpty else { return }
        let counts = try await store.read { view in
            try ids.compactMap { id -> (String, Count)? in
                guard let record = try view.record(.limitCount, id: id) else { return (id, Count(times: [])) }
                // Counts of another kind, such as wrong guesses, are read by each decision.
                guard var count = try? RecordCoding.decode(Count.self, from: record) else { return nil }
                count.version = record.version
                return (id, count)
            }
        }
        for (id, count) in counts { keep(count, as: id) }
    }

    private func keep(_ count: Count, as id: String) {
        known.withLockedValue { known in
            if known.count >= capacity, known[id] == nil {
                let median = known.values.compactMap(\.times.last).sorted()
                if let middle = median.dropFirst(median.count / 2).first {
                    known = known.filter { $0.value.times.last ?? .distantPast > middle }
                }
            }
            known[id] = count
        }
    }
}
