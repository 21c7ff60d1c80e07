package import Foundation
internal import JOSE
internal import Store

/// A server process that answers requests, with the ids of its master keys. Each server writes this record at its start and every minute,
/// and removes it when it stops. The rotation of the master key waits until all running servers have the new key.
package struct LiveServer: Sendable, Equatable {
    /// Seconds between two writes of the record.
    package static let interval: TimeInterval = 60
    /// Seconds after the last write until a server counts as stopped, because it was killed.
    package static let lifetime: TimeInterval = 300
    /// Seconds by which the clock of a running server may be ahead.
    package static let clockTolerance: TimeInterval = 60

    package var id: String
    /// The ids of its master keys, the sealing one first.
    package var keys: [String]
    package var startedAt: Date
    /// When the server last wrote its record, by its clock; `nil` before the first write.
    package private(set) var seenAt: Date?
    private(set) var version: Int64 = 0

    init(id: String, keys: [String], startedAt: Date, seenAt: Date? = nil, version: Int64 = 0) {
        (self.id, self.keys, self.startedAt, self.seenAt, self.version) = (id, keys, startedAt, seenAt, version)
    }

    fileprivate init(_ record: Record) throws {
        guard let json = try? JSONValue(parsing: record.payload), let keys = json["keys"]?.arrayValue?.compactMap(\.stringValue),
            let started = json["started"]?.intValue
        else { throw StoreError(.damaged, "The record \(record.kind.rawValue)/\(record.id) cannot be read.") }
        self.init(
            id: record.id, keys: keys, startedAt: Date(clampingNumericDate: Double(started)),
            seenAt: record.expiresAt?.addingTimeInterval(-Self.lifetime), version: record.version)
    }

    fileprivate func record(now: Date) -> Record {
        let json: JSONValue = ["keys": .array(keys.map(JSONValue.string)), "started": .integer(startedAt.numericDate)]
        return Record(
            kind: .runningServer, id: id, version: version, expiresAt: now.addingTimeInterval(Self.lifetime), payload: json.serialized())
    }
}

extension StoreView {
    /// Returns the servers that run now.
    func runningServers(now: Date) throws -> [LiveServer] {
        try allRecords(.runningServer).filter { $0.expiresAt.map { now < $0 } ?? true }.map(LiveServer.init)
    }

    /// Returns the servers that did not renew their records, by this clock, and did not remove them either.
    func silentServers(now: Date) throws -> [LiveServer] {
        try allRecords(.runningServer).filter { $0.expiresAt.map { $0 <= now } ?? false }.map(LiveServer.init)
    }
}

extension Engine {
    /// Returns the id of a new server process.
    package func newServerID() throws -> String { try environment.random.identifier(prefix: "srv") }

    /// Records that a server runs, or that it still does. Throws ``StoreError/Code/wrongMasterKey`` if no master key of the server opens
    /// the store any more.
    package func announce(server id: String, startedAt: Date, context: RequestContext) async throws {
        try await transact(context) { [environment] reading in
            let check = try MasterKeyCheck(environment).verify(reading.view)
            let version = try reading.view.record(.runningServer, id: id)?.version ?? 0
            return (check, LiveServer(id: id, keys: environment.masterKeys.ids, startedAt: startedAt, version: version))
        } decide: { check, server in
            // A rotation at the same moment causes a conflict, so that it sees this server, or this server sees the rotation.
            Plan((), Writes([check.unchanged, .put(server.record(now: context.now))]))
        }
    }

    /// Records that a server has stopped.
    package func withdraw(server id: String, context: RequestContext) async throws {
        try await transact(context) { reading in
            try reading.view.record(.runningServer, id: id)
        } decide: { record in
            Plan((), Writes(record.map { [.remove(.runningServer, id: id, version: $0.version)] } ?? []))
        }
    }
}
