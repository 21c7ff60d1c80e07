internal import Crypto
internal import Foundation

/// A stored record in the form in which it is copied. Unlike a ``Record``, it can have a kind that this version of the server does not
/// know.
package struct CopiedRecord: Sendable, Equatable {
    package var kind: String
    package var id: String
    package var version: Int64
    /// The expiry in seconds since 1970; `nil` for none.
    package var expires: Double?
    package var uniqueKeys: [String: String]
    package var indexedKeys: [String: String]
    package var payload: [UInt8]

    package init(
        kind: String, id: String, version: Int64, expires: Double?, uniqueKeys: [String: String], indexedKeys: [String: String],
        payload: [UInt8]
    ) {
        (self.kind, self.id, self.version, self.expires) = (kind, id, version, expires)
        (self.uniqueKeys, self.indexedKeys, self.payload) = (uniqueKeys, indexedKeys, payload)
    }
}

/// A stored ticket in any state, in the form in which it is copied.
package struct CopiedTicket: Sendable, Equatable {
    package var digest: [UInt8]
    package var kind: String
    package var owner: [String]
    package var use: String
    /// The expiry in seconds since 1970; `nil` for none.
    package var expires: Double?
    package var payload: [UInt8]
    package var standing: Int64
    /// The time of the use in seconds since 1970; `nil` for a ticket that was not consumed.
    package var takenAt: Double?
    package var gave: [UInt8]?

    /// Creates a copied ticket.
    /// - Parameter owner: The kind and the id of the record to which the ticket refers.
    package init(
        digest: [UInt8], kind: String, owner: [String], use: String, expires: Double?, payload: [UInt8], standing: Int64, takenAt: Double?,
        gave: [UInt8]?
    ) {
        (self.digest, self.kind, self.owner, self.use, self.expires) = (digest, kind, owner, use, expires)
        (self.payload, self.standing, self.takenAt, self.gave) = (payload, standing, takenAt, gave)
    }
}

/// Direct access to the rows of a store that no server uses. Every call blocks its thread, and throws `StoreError` if the database fails.
/// An instance belongs to one thread.
package protocol StoreRows {
    func configurationVersion() throws -> Int64
    func setConfigurationVersion(_ version: Int64) throws
    /// Whether the store is the target of a copy that is not complete. No server opens such a store.
    func isUnfinishedCopy() throws -> Bool
    func markCopy(isComplete: Bool) throws

    /// Returns records ordered by the bytes of kind and id, beginning after `last`; `nil` begins with the first record.
    func records(after last: CopiedRecord?, limit: Int) throws -> [CopiedRecord]
    /// Returns tickets ordered by digest and kind, beginning after `last`; `nil` begins with the first ticket.
    func tickets(after last: CopiedTicket?, limit: Int) throws -> [CopiedTicket]
    func record(kind: String, id: String) throws -> CopiedRecord?
    func ticket(digest: [UInt8], kind: String) throws -> CopiedTicket?
    func lastRecord() throws -> CopiedRecord?
    func lastTicket() throws -> CopiedTicket?

    /// Inserts rows in one transaction.
    func insert(_ records: [CopiedRecord], _ tickets: [CopiedTicket]) throws
}

/// Copies all rows of a store into an empty one.
package struct StoreCopy {
    /// The result of a copy that was verified.
    package struct Report: Sendable, Equatable {
        package var records = 0
        package var tickets = 0
        /// The SHA-256 digest of all rows, in hexadecimal.
        package var digest = ""
    }

    private static let batch = 500

    private let source: any StoreRows
    private let target: any StoreRows

    package init(from source: any StoreRows, to target: any StoreRows) { (self.source, self.target) = (source, target) }

    /// Copies the rows in their order, and compares both stores at the end. Continues a copy that was interrupted. No server can open the
    /// target before the comparison has succeeded. A copy that is already complete is only compared, because servers may use it. Blocks the
    /// thread.
    /// - Parameter progress: Receives the number of rows copied so far, after each batch.
    /// - Throws: `StoreError` with code `invalid` if the source is itself an unfinished copy, if the target has other data, or if the
    ///   stores differ at the end because a server wrote meanwhile; other codes if a database fails.
    package func run(progress: (Int) -> Void = { _ in }) throws -> Report {
        guard try !source.isUnfinishedCopy() else {
            throw StoreError(.invalid, "The source is the target of an unfinished copy. Complete that copy first.")
        }
        var (record, ticket) = (try target.lastRecord(), try target.lastTicket())
        if record != nil || ticket != nil, try !target.isUnfinishedCopy() {
            let copy = try Self.report(target)
            guard try Self.report(source) == copy else { throw Self.foreign }
            return copy
        }
        if let record, try source.record(kind: record.kind, id: record.id) != record { throw Self.foreign }
        if let ticket, try source.ticket(digest: ticket.digest, kind: ticket.kind) != ticket { throw Self.foreign }
        try target.markCopy(isComplete: false)
        var count = 0
        while true {
            let records = try source.records(after: record, limit: Self.batch)
            guard let last = records.last else { break }
            try target.insert(records, [])
            (record, count) = (last, count + records.count)
            progress(count)
        }
        while true {
            let tickets = try source.tickets(after: ticket, limit: Self.batch)
            guard let last = tickets.last else { break }
            try target.insert([], tickets)
            (ticket, count) = (last, count + tickets.count)
            progress(count)
        }
        try target.setConfigurationVersion(try source.configurationVersion())
        let (original, copy) = (try Self.report(source), try Self.report(target))
        guard original == copy else {
            throw StoreError(
                .invalid,
                "The copy differs: \(original.records) records and \(original.tickets) tickets became \(copy.records) and \(copy.tickets). A server "
                    + "has written meanwhile. Stop the servers, empty the target, and copy again.")
        }
        try target.markCopy(isComplete: true)
        return copy
    }

    private static let foreign = StoreError(
        .invalid, "The target has other data than the source, and was not changed. Name an empty database.")

    private static func report(_ rows: any StoreRows) throws -> Report {
        var (report, hash) = (Report(), SHA256())
        func add(_ parts: [[UInt8]]) {
            for part in parts {
                withUnsafeBytes(of: UInt64(part.count).littleEndian) { hash.update(bufferPointer: $0) }
                hash.update(data: part)
            }
        }
        func bytes(_ value: Double?) -> [UInt8] { value.map { Array("\($0)".utf8) } ?? [] }
        var record: CopiedRecord?
        while true {
            let records = try rows.records(after: record, limit: batch)
            for row in records {
                add([Array(row.kind.utf8), Array(row.id.utf8), Array("\(row.version)".utf8), bytes(row.expires), row.payload])
                for keys in [row.uniqueKeys, row.indexedKeys] {
                    add(keys.sorted { $0.key < $1.key }.flatMap { [Array($0.key.utf8), Array($0.value.utf8)] } + [[]])
                }
            }
            guard let last = records.last else { break }
            (record, report.records) = (last, report.records + records.count)
        }
        var ticket: CopiedTicket?
        while true {
            let tickets = try rows.tickets(after: ticket, limit: batch)
            for row in tickets {
                add([row.digest, Array(row.kind.utf8)] + row.owner.map { Array($0.utf8) } + [Array(row.use.utf8), bytes(row.expires)])
                add([row.payload, Array("\(row.standing)".utf8), bytes(row.takenAt), row.gave ?? [], [row.gave == nil ? 0 : 1]])
            }
            guard let last = tickets.last else { break }
            (ticket, report.tickets) = (last, report.tickets + tickets.count)
        }
        add([Array("\(try rows.configurationVersion())".utf8)])
        report.digest = hash.finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return report
    }
}
