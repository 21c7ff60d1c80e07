package import Foundation
internal import JOSE
internal import Store

/// A filter for the system log, with paging.
package struct SystemLogQuery: Sendable {
    /// The earliest time, inclusive.
    package var since: Date
    /// The end of the time range, exclusive; `nil` for no limit.
    package var until: Date?
    /// Selects lines of this user only; `nil` for all.
    package var userID: String?
    /// Selects types with this prefix, such as `user.authentication.`; empty for all.
    package var typePrefix: String
    /// Selects lines with this outcome only; `nil` for all.
    package var outcome: LogEvent.Outcome?
    /// Selects lines of this request only; `nil` for all.
    package var requestID: String?
    /// The maximum number of lines of a page, 1 to 1,000.
    package var limit: Int
    /// Whether the latest line comes first. Requires ``until``; without it, the page is empty.
    package var isDescending: Bool
    /// ``SystemLogPage/next`` of the previous page; `nil` for the first page.
    package var after: String?

    package init(
        since: Date, until: Date? = nil, userID: String? = nil, typePrefix: String = "", outcome: LogEvent.Outcome? = nil,
        requestID: String? = nil, limit: Int = 100, isDescending: Bool = false, after: String? = nil
    ) {
        (self.since, self.until, self.userID, self.typePrefix) = (since, until, userID, typePrefix)
        (self.outcome, self.requestID) = (outcome, requestID)
        self.limit = min(max(limit, 1), 1_000)
        (self.isDescending, self.after) = (isDescending, after)
    }
}

/// A page of the system log, in the order of the query.
package struct SystemLogPage: Sendable, Equatable {
    package var events: [LogEvent]
    /// The position of the next page; `nil` at the current end. A short or empty page can have a next page, because each call scans a
    /// limited number of lines.
    package var next: String?
    /// The number of lines that were read, including lines that the query does not select.
    package var scanned = 0
}

extension SystemLogQuery {
    fileprivate func selects(_ event: LogEvent) -> Bool {
        event.time >= since && event.type.hasPrefix(typePrefix) && (userID ?? event.userID) == event.userID
            && (outcome ?? event.outcome) == event.outcome && (requestID ?? event.requestID) == event.requestID
    }
}

extension Engine {
    /// The maximum number of lines that one call scans.
    fileprivate static let scanLimit = 5_000

    /// Returns one page of the system log.
    package func systemLog(_ query: SystemLogQuery) async throws -> SystemLogPage {
        if query.isDescending { return try await store.read { try $0.latestEvents(query) } }
        return try await store.read { view in
            // The prefix sorts before all ids of its millisecond.
            var position = max(query.after ?? "", LogEvent.idPrefix(at: query.since))
            var events: [LogEvent] = []
            var scanned = 0
            while scanned < Self.scanLimit {
                let records = try view.records(.logEvent, after: position, limit: 500)
                for record in records {
                    let event = try RecordCoding.decode(LogEvent.self, from: record)
                    if let until = query.until, event.time >= until { return SystemLogPage(events: events, scanned: scanned) }
                    position = record.id
                    scanned += 1
                    guard query.selects(event) else { continue }
                    events.append(event)
                    if events.count == query.limit { return SystemLogPage(events: events, next: position, scanned: scanned) }
                }
                if records.count < 500 { return SystemLogPage(events: events, scanned: scanned) }
            }
            return SystemLogPage(events: events, next: position, scanned: scanned)
        }
    }

    /// Returns the current logins of users, by id; without deleted users.
    package func logins(of ids: Set<String>) async throws -> [String: String] {
        try await store.read { [self] view in
            try Dictionary(uniqueKeysWithValues: ids.compactMap { id in try user(id: id, in: view).map { (id, $0.value.login) } })
        }
    }

    /// Removes the personal data from a user's lines: the user, the address and the reason. The action, its outcome, its time and the
    /// request's id stay. The start and the end of the erasure are logged, without the user. Reads the whole log. Returns the number of
    /// changed lines.
    package func eraseSystemLog(ofUser userID: String, context: RequestContext) async throws -> Int {
        func note(_ reason: String) async throws {
            var writes = Writes()
            writes.log("system.log.erase", .success, reason: reason)
            try await write(writes, context: context)
        }
        try await note("begun")
        var (query, sum) = (SystemLogQuery(since: .distantPast, userID: userID, limit: 100), 0)
        repeat {
            let page = try await systemLog(query)
            let ids = page.events.map(\.id)
            sum += try await transact(context) { reading in
                try ids.compactMap { try reading.view.record(.logEvent, id: $0) }
            } decide: { (records: [Record]) in
                Plan(records.count, Writes(try records.map { .put(try LogEvent.erased($0)) }))
            }
            query.after = page.next
        } while query.after != nil
        try await note("\(sum) line(s)")
        return sum
    }
}

extension Engine {
    /// Removes lines that are older than the retention time, at most `limit`, starting with the oldest. Lines that were written under a
    /// longer retention time expire too late otherwise. Returns the number of removed lines.
    func removeOldLogLines(now: Date, limit: Int) async throws -> Int {
        // Without a configuration, there is no retention time to apply.
        guard limit > 0, latestSnapshot != nil else { return 0 }
        return try await transact(RequestContext(now: now, requestID: "maintenance")) { reading in
            let retention = try reading.snapshot.systemLog.retention
            let end = LogEvent.firstID(at: now.addingTimeInterval(-retention))
            // The ids sort by time.
            return try reading.view.records(.logEvent, after: nil, limit: limit).filter { $0.id < end }
        } decide: { (records: [Record]) in
            Plan(records.count, Writes(records.map { .remove(.logEvent, id: $0.id, version: $0.version) }))
        }
    }
}

extension StoreView {
    /// Returns a page with the latest line first. The store reads ids in ascending order. Therefore this function reads time windows
    /// backwards, each twice as long as the previous one, until enough lines are found. A window with too many lines is shortened and read
    /// again, so that a busy time after a quiet one costs little.
    fileprivate func latestEvents(_ query: SystemLogQuery) throws -> SystemLogPage {
        guard let until = query.until else { return SystemLogPage(events: []) }
        var upper = min(query.after ?? "~", LogEvent.idPrefix(at: until))
        var end = min(query.after.flatMap(LogEvent.time(ofID:)) ?? until, until)
        var (events, length, scanned) = ([LogEvent](), 60.0, 0)
        while true {
            let start = max(query.since, end.addingTimeInterval(-length))
            let lower = LogEvent.idPrefix(at: start)
            var (found, position, count) = ([LogEvent](), lower, 0)
            window: while count <= Engine.scanLimit || length < 0.002 {
                let records = try records(.logEvent, after: position, limit: 500)
                for record in records {
                    guard record.id < upper else { break window }
                    (position, count) = (record.id, count + 1)
                    let event = try RecordCoding.decode(LogEvent.self, from: record)
                    if query.selects(event) { found.append(event) }
                }
                if records.count < 500 { break }
            }
            guard count <= Engine.scanLimit || length < 0.002 else {
                length /= 8
                continue
            }
            scanned += count
            events += found.reversed()
            if events.count >= query.limit {
                events = Array(events.prefix(query.limit))
                return SystemLogPage(events: events, next: events.last?.id, scanned: scanned)
            }
            if start <= query.since { return SystemLogPage(events: events, scanned: scanned) }
            if scanned >= Engine.scanLimit { return SystemLogPage(events: events, next: lower, scanned: scanned) }
            (upper, end, length) = (lower, start, length * 2)
        }
    }
}

extension LogEvent {
    /// Returns the position before all lines at or after a time.
    package static func firstID(at time: Date) -> String { idPrefix(at: time) }

    /// Whether a text can be the id of a line, or a position between two lines.
    package static func isPossible(id: String) -> Bool {
        (13...40).contains(id.utf8.count) && time(ofID: id) != nil && id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// Returns the time of a line by its id, with milliseconds; `nil` for another text.
    fileprivate static func time(ofID id: String) -> Date? {
        guard id.dropFirst(12).first == "-", let milliseconds = Int64(id.prefix(12), radix: 16) else { return nil }
        return Date(clampingNumericDate: Double(milliseconds) / 1_000)
    }

    /// Returns the record of a line without the personal data.
    fileprivate static func erased(_ record: Record) throws -> Record {
        var event = try RecordCoding.decode(LogEvent.self, from: record)
        (event.userID, event.address, event.reason) = (nil, nil, nil)
        var erased = record
        erased.payload = event.payload
        return erased
    }
}
