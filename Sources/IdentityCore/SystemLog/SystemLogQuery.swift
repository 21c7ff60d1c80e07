package import Foundation
internal import Store

/// What to look for in the system log.
package struct SystemLogQuery: Sendable {
    /// The earliest time.
    package var since: Date
    /// The time before which to look; nil for all that follows.
    package var until: Date?
    /// Only lines of this user.
    package var userID: String?
    /// Only types that begin so: `user.authentication.`; empty for all.
    package var typePrefix: String
    /// The most lines of one page, 1 to 1,000.
    package var limit: Int
    /// The page before's ``SystemLogPage/next``; nil for the first.
    package var after: String?

    /// Describes what to look for.
    package init(
        since: Date, until: Date? = nil, userID: String? = nil, typePrefix: String = "", limit: Int = 100, after: String? = nil
    ) {
        self.since = since
        self.until = until
        self.userID = userID
        self.typePrefix = typePrefix
        self.limit = min(max(limit, 1), 1_000)
        self.after = after
    }
}

/// A page of the system log, oldest line first.
package struct SystemLogPage: Sendable, Equatable {
    /// The lines.
    package var events: [LogEvent]
    /// Where the next page begins; nil at the end of what there is now. A page can be short, or empty, and have a next one:
    /// one call looks at a bounded number of lines.
    package var next: String?
}

extension Engine {
    /// Lines a call looks at before it hands back what it found.
    private static let scanLimit = 5_000

    /// Reads the system log.
    ///
    /// - Parameter query: What to look for.
    /// - Returns: One page, oldest line first.
    /// - Throws: ``StoreError`` if the store failed.
    package func systemLog(_ query: SystemLogQuery) async throws -> SystemLogPage {
        try await store.read { view in
            // The id before the first of a millisecond: ids go on behind the prefix.
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
