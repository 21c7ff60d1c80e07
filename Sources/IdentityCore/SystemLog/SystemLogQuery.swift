package import Foundation
internal import Store

/// A filter for the system log, with paging.
package struct SystemLogQuery: Sendable {
    /// The earliest time, inclusive.
    package var since: Date
    /// The latest time, exclusive; `nil` for no limit.
    package var until: Date?
    /// Selects lines of this user only.
    package var userID: String?
    /// Selects types with this prefix, such as `user.authentication.`; empty for all.
    package var typePrefix: String
    /// Selects lines with this outcome only.
    package var outcome: LogEvent.Outcome?
    /// Selects lines of this request only.
    package var requestID: String?
    /// The maximum number of lines of a page, 1 to 1,000.
    package var limit: Int
    /// ``SystemLogPage/next`` of the previous page; `nil` for the first.
    package var after: String?

    package init(
        since: Date, until: Date? = nil, userID: String? = nil, typePrefix: String = "", outcome: LogEvent.Outcome? = nil,
        requestID: String? = nil, limit: Int = 100, after: String? = nil
    ) {
        (self.since, self.until, self.userID, self.typePrefix) = (since, until, userID, typePrefix)
        (self.outcome, self.requestID) = (outcome, requestID)
        self.limit = min(max(limit, 1), 1_000)
        self.after = after
    }
}

/// A page of the system log, oldest line first.
package struct SystemLogPage: Sendable, Equatable {
    package var events: [LogEvent]
    /// The position of the next page; `nil` at the current end. A page can be short or empty and still have a next page, because each call
    /// scans a limited number of lines.
    package var next: String?
}

extension SystemLogQuery {
    fileprivate func selects(_ event: LogEvent) -> Bool {
        event.time >= since && event.type.hasPrefix(typePrefix) && (userID ?? event.userID) == event.userID
            && (outcome ?? event.outcome) == event.outcome && (requestID ?? event.requestID) == event.requestID
    }
}

extension Engine {
    /// The maximum number of lines that one call scans.
    private static let scanLimit = 5_000

    /// Returns one page of the system log, oldest line first.
    package func systemLog(_ query: SystemLogQuery) async throws -> SystemLogPage {
        try await store.read { view in
            // The prefix sorts before all ids of its millisecond.
            var position = query.after ?? LogEvent.idPrefix(at: query.since)
            var events: [LogEvent] = []
            var scanned = 0
            while scanned < Self.scanLimit {
                let records = try view.records(.logEvent, after: position, limit: 500)
                for record in records {
                    let event = try RecordCoding.decode(LogEvent.self, from: record)
                    if let until = query.until, event.time >= until { return SystemLogPage(events: events, next: nil) }
                    position = record.id
                    scanned += 1
                    guard query.selects(event) else { continue }
                    events.append(event)
                    if events.count == query.limit { return SystemLogPage(events: events, next: position) }
                }
                if records.count < 500 { return SystemLogPage(events: events, next: nil) }
            }
            return SystemLogPage(events: events, next: position)
        }
    }

    /// Removes the personal data from a user's lines: the user, the address and the reason. The action, its outcome, its time and the
    /// request's id stay. The erasure itself is logged, without the user. Reads the whole log. Returns the number of changed lines.
    package func eraseSystemLog(ofUser userID: String, context: RequestContext) async throws -> Int {
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
        var writes = Writes()
        writes.log("system.log.erase", .success, reason: "\(sum) line(s)")
        try await write(writes, context: context)
        return sum
    }
}

extension LogEvent {
    /// Returns the record of a line without the personal data.
    fileprivate static func erased(_ record: Record) throws -> Record {
        var event = try RecordCoding.decode(LogEvent.self, from: record)
        (event.userID, event.address, event.reason) = (nil, nil, nil)
        var erased = record
        erased.payload = event.payload
        return erased
    }
}
