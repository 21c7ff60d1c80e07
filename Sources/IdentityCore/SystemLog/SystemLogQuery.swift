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
    /// The maximum number of lines of a page, 1 to 1,000.
    package var limit: Int
    /// ``SystemLogPage/next`` of the previous page; `nil` for the first.
    package var after: String?

    package init(
        since: Date, until: Date? = nil, userID: String? = nil, typePrefix: String = "", limit: Int = 100, after: String? = nil
    ) {
        (self.since, self.until, self.userID, self.typePrefix) = (since, until, userID, typePrefix)
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
                    guard event.time >= query.since, event.type.hasPrefix(query.typePrefix),
                        query.userID == nil || query.userID == event.userID
                    else { continue }
                    events.append(event)
                    if events.count == query.limit { return SystemLogPage(events: events, next: position) }
                }
                if records.count < 500 { return SystemLogPage(events: events, next: nil) }
            }
            return SystemLogPage(events: events, next: position)
        }
    }
}
