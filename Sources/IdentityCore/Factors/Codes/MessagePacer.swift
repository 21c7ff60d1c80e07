internal import Crypto
package import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers
package import Store

/// Limits messages per number or address, and for all users together; enrollments have their own limits in addition.
/// - Each user has their own limit for a number or address, so that another user who enters the number cannot exhaust its owner's limit.
/// - All users for whom a number is unconfirmed share one more limit.
/// - Recovery messages, which any caller can request, are counted separately.
///
/// The counts are records, which the commit that sends a message writes. So the limits are exact for all servers of a database. A decision
/// uses the counts that this process knows. If another server has counted meanwhile, the commit conflicts; the runner then reads the counts
/// and decides again. Keys are digests. The number of known counts is limited: at the limit, the oldest half is forgotten, and the next
/// message of each forgotten key conflicts once. Safe from any thread.
package final class MessagePacer: Sendable {
    /// The window in seconds for the limits per destination. One destination of a user gets at most 12 messages in it: 8 for sign-ins and
    /// enrollments, 4 for recoveries.
    private static let window: TimeInterval = 3_600
    static func most(_ occasion: SentCodeMethod.Occasion) -> Int { occasion == .anybody ? 4 : 8 }
    /// The maximum number of messages to an unconfirmed number in ``window``, for all users together. Higher than the limit of one user.
    static let mostUnconfirmed = 12
    /// The number of messages per minute in one part of the count of all messages. The count has parts, so that concurrent messages seldom
    /// conflict.
    private static let part = 25
    private static let mostParts = 16
    /// Seconds after a read in which a decision uses the count that was read. If the record changes in this time, the commit conflicts.
    private static let readingLifetime: TimeInterval = 10
    /// The maximum number of seconds by which the clock of another server may be ahead. Each server removes expired records by its own
    /// clock.
    private static let clockDifference: TimeInterval = 60

    /// The times of the messages of one key that count, the latest last.
    private struct Count: Codable {
        var times: [Date]
        /// The version of the record; 0 if there is none.
        var version: Int64 = 0
        /// The time when this process read the record; `nil` if this process has written the record since.
        var readAt: Date?

        private enum CodingKeys: String, CodingKey { case times }
    }

    private let known = NIOLockedValueBox<[String: Count]>([:])
    private let capacity: Int

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    func forgetAll() { known.withLockedValue { $0 = [:] } }

    /// Returns the changes that count a message. Commit them with the message. Throws ``CodeRefusal`` if the message must not be sent.
    /// - Parameters:
    ///   - key: The destination, or a substitute for it.
    ///   - limit: The maximum number of messages per minute to all users; `nil` if the call does not count towards this maximum.
    ///   - unconfirmed: The phone number, if the user has not confirmed it; otherwise `nil`.
    package func count(
        _ channel: CodeChannel, to key: String, _ occasion: SentCodeMethod.Occasion, limit: Int?, unconfirmed: String? = nil, now: Date
    ) throws -> [Change] {
        let id = Self.id("\(channel.rawValue) \(occasion.rawValue) \(key)")
        let common = unconfirmed.map { Self.id("unconfirmed \($0)") }
        let (own, shared) = (known(id, now), common.map { known($0, now) })
        var counted = try Self.counting(own, most: Self.most(occasion), pause: channel.pause, channel, now)
        var changes = [try Self.change(id, counted, expiresAt: now.addingTimeInterval(Self.window))]
        if let common, let shared {
            counted = try Self.counting(shared, most: Self.mostUnconfirmed, pause: 0, channel, now)
            changes.append(try Self.change(common, counted, expiresAt: now.addingTimeInterval(Self.window)))
        }
        if let limit { changes.append(try countToAll(channel, limit: limit, startingAt: id, now: now)) }
        return changes
    }

    /// Returns changes that cost the same as those of ``count(_:to:_:limit:unconfirmed:now:)``, for a user name without a destination. They
    /// count no message. The count for all users is written unchanged, so that conflicts are as frequent as for a real message.
    func decoy(_ channel: CodeChannel, for name: String, limit: Int, now: Date) throws -> [Change] {
        let id = Self.id("decoy \(channel.rawValue) \(name)")
        var count = known(id, now)
        count.times = Array(count.times.suffix(7)) + [now]
        let shared = try? countToAll(channel, limit: limit, startingAt: id, now: now, isCounted: false)
        return [try Self.change(id, count, expiresAt: now.addingTimeInterval(Self.window))] + (shared.map { [$0] } ?? [])
    }

    /// Returns the count that this process knows. Returns an empty count if another server may have removed the record and written it again
    /// up to the same version; the commit of an empty count conflicts if there is a record.
    private func known(_ id: String, _ now: Date) -> Count {
        guard let count = known.withLockedValue({ $0[id] }) else { return Count(times: []) }
        let isRecent = count.readAt.map { now < $0.addingTimeInterval(Self.readingLifetime) } ?? false
        let isStored = count.times.last.map { now < $0.addingTimeInterval(Self.window - Self.clockDifference) } ?? false
        return isRecent || isStored ? count : Count(times: [])
    }

    private static func counting(
        _ known: Count, most: Int, pause: TimeInterval, _ channel: CodeChannel, _ now: Date
    ) throws(CodeRefusal) -> Count {
        var count = known
        count.times.removeAll { $0 <= now.addingTimeInterval(-window) }
        if let last = count.times.last, now < last.addingTimeInterval(pause) {
            throw .tooSoon(channel, until: last.addingTimeInterval(pause))
        }
        if count.times.count >= most, let first = count.times.first { throw .tooMany(channel, until: first.addingTimeInterval(window)) }
        count.times.append(now)
        return count
    }

    /// Counts a message towards the limit for all users, in the first part with room. The limits of the parts add up to the whole limit.
    private func countToAll(_ channel: CodeChannel, limit: Int, startingAt id: String, now: Date, isCounted: Bool = true) throws -> Change {
        let minute = Int(clamping: (now.timeIntervalSince1970 / 60).rounded(.down))
        let end = Date(clampingNumericDate: Double(minute + 1) * 60)
        let parts = min(max(limit / Self.part, 1), Self.mostParts)
        let start = id.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % parts
        for part in (start..<(start + parts)).map({ $0 % parts }) {
            let most = limit / parts + (part < limit % parts ? 1 : 0)
            let key = Self.id("all \(minute) \(parts) \(part)")
            var count = known.withLockedValue { $0[key] } ?? Count(times: [])
            guard count.times.count < most else { continue }
            if isCounted { count.times.append(now) }
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
    func readAgain(_ changes: [Change], from store: any Store, now: Date) async throws {
        let ids = changes.compactMap { change in
            if case .put(let record) = change, record.kind == .limitCount { record.id } else { nil }
        }
        guard !ids.isEmpty else { return }
        let counts = try await store.read { view in
            try ids.compactMap { id -> (String, Count)? in
                guard let record = try view.record(.limitCount, id: id) else { return (id, Count(times: [])) }
                // Counts of another kind, such as wrong guesses, are read by each decision.
                guard var count = try? RecordCoding.decode(Count.self, from: record) else { return nil }
                (count.version, count.readAt) = (record.version, now)
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
