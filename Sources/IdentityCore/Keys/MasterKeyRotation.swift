package import Foundation
package import Store

/// The state of a store and its servers that decides about the next step of a rotation of the master key.
package struct MasterKeyStatus: Sendable {
    /// The place of the key that sealed the store among the engine's keys.
    package let current: Int
    /// The places of the keys that the store has never used.
    package let unused: [Int]
    /// When the store was last rotated; `nil` for never.
    package let rotatedAt: Date?
    /// Whether servers that encrypt with an earlier key are refused, or there is no earlier key.
    package let refusesEarlierKeys: Bool
    /// Whether an earlier version created the store, and it was never rotated. Servers of such a version may run, and have no records.
    package let isOfEarlierVersion: Bool
    package let servers: [LiveServer]
    /// The servers whose records have expired by this clock: they were killed, or a clock is wrong.
    package let silent: [LiveServer]
}

/// The numbers of records that a rotation encrypted again.
package struct ResealReport: Sendable, Equatable {
    package var counts: [RecordKind: Int] = [:]
    /// The number of records that none of the keys opens. They stay unchanged.
    package var unreadable = 0

    package init() {}

    package var total: Int { counts.values.reduce(0, +) }

    /// The counts by kind, such as `enrollment 2, signingKey 1`.
    package var description: String {
        counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)" }.joined(separator: ", ")
    }

    static func += (a: inout ResealReport, b: ResealReport) {
        a.counts.merge(b.counts, uniquingKeysWith: +)
        a.unreadable += b.unreadable
    }
}

extension Engine {
    /// Seconds in which codes and pictures that an earlier master key authenticated expire.
    package static let settlingTime: TimeInterval = 3_600

    /// Returns the state of the store. Throws ``StoreError/Code/wrongMasterKey`` if no key of this engine sealed it.
    package func masterKeyStatus(now: Date) async throws -> MasterKeyStatus {
        try await store.read { [environment] view in
            let check = try MasterKeyCheck(environment).verify(view)
            let known = Set(check.retired + [environment.masterKeys.ids[check.key]])
            return MasterKeyStatus(
                current: check.key, unused: environment.masterKeys.ids.indices.filter { !known.contains(environment.masterKeys.ids[$0]) },
                rotatedAt: check.rotatedAt, refusesEarlierKeys: check.removed == check.retired, isOfEarlierVersion: check.isRootMasterKey,
                servers: try view.runningServers(now: now), silent: try view.silentServers(now: now))
        }
    }

    /// Encrypts every stored secret that another master key sealed with the first of `keys`, in pages. Concurrent changes are kept: each
    /// page is read again if one of its records changed. Idempotent; after an interruption, the next call continues. The check record is
    /// written first, so that a server without the key does not start any more. Throws ``ServersLackKey``, without any change, if a running
    /// server does not have the key.
    package func reseal(with keys: MasterKeys, pageSize: Int = 100, context: RequestContext) async throws -> ResealReport {
        var environment = environment
        environment.masterKeys = keys
        var report = ResealReport()
        if try await begin(environment, context: context) { report.counts[.masterKeyCheck] = 1 }
        // A server that started at the moment of that commit is visible now.
        if let lacking = try await store.read({ try $0.servers(lacking: keys.ids[0], now: context.now) }) { throw lacking }
        for kind in Record.sealedKinds {
            var position: String?
            repeat {
                let page = try await resealPage(kind, after: position, limit: pageSize, environment, context: context)
                report += page.report
                position = page.last
            } while position != nil
        }
        try await end(environment, report, context: context)
        if report.total > 0 { await readAgain() }
        return report
    }

    /// Refuses servers that have an earlier master key in the first place from now on, because the secrets that they encrypt do not open
    /// for servers without that key. This engine's first key must have sealed the store. Returns whether that changed anything. Throws
    /// ``ServersLackKey``, without any change, if a running server encrypts with another key.
    @discardableResult
    package func refuseEarlierKeys(context: RequestContext) async throws -> Bool {
        try await transact(context) { [environment] reading in
            let others = try reading.view.runningServers(now: context.now).count { $0.keys.first != environment.masterKeys.ids[0] }
            guard others == 0 else { throw ServersLackKey(count: others) }
            let check = MasterKeyCheck(environment)
            let change = try check.removing(check.verify(reading.view))
            return (change, try reading.view.record(.organization, id: OrganizationSettings.reference.id))
        } decide: { change, organization in
            guard let change else { return Plan(false) }
            // Written unchanged, so that a server whose record expired while it was suspended reads its configuration again, and is
            // refused.
            var writes = Writes([change])
            if let organization { writes += [.put(organization)] }
            return Plan(true, writes)
        }
    }

    private func begin(_ environment: EngineEnvironment, context: RequestContext) async throws -> Bool {
        try await transact(context) { reading in
            if let lacking = try reading.view.servers(lacking: environment.masterKeys.ids[0], now: context.now) { throw lacking }
            let check = MasterKeyCheck(environment)
            return try check.beginning(check.verify(reading.view), now: context.now)
        } decide: { change in
            Plan(change != nil, Writes(change.map { [$0] } ?? []))
        }
    }

    private struct ResealPage: Sendable {
        var changes: [Change] = []
        var report = ResealReport()
        /// The id of the last record; `nil` at the end.
        var last: String?
    }

    private func resealPage(
        _ kind: RecordKind, after position: String?, limit: Int, _ environment: EngineEnvironment, context: RequestContext
    ) async throws -> ResealPage {
        try await transact(context) { reading in
            let check = try MasterKeyCheck(environment).verify(reading.view)
            guard check.key == 0 else {
                throw StoreError(.wrongMasterKey, "The store was rotated to another master key meanwhile. Run the command again.")
            }
            let records = try reading.view.records(kind, after: position, limit: limit)
            var page = ResealPage(last: records.count < limit ? nil : records.last?.id)
            for record in records {
                do {
                    guard let next = try record.resealed(environment, check.derived) else { continue }
                    page.changes.append(.put(next))
                    page.report.counts[kind, default: 0] += 1
                } catch let error as StoreError where error.code == .damaged {
                    page.report.unreadable += 1
                }
            }
            return page
        } decide: {
            Plan($0, Writes($0.changes))
        }
    }

    /// Ends a rotation, and logs it in the same commit. Secrets that a server sealed with an earlier key afterwards are logged by
    /// themselves.
    private func end(_ environment: EngineEnvironment, _ report: ResealReport, context: RequestContext) async throws {
        try await transact(context) { reading in
            let check = MasterKeyCheck(environment)
            return try check.ending(check.verify(reading.view))
        } decide: { change in
            guard change != nil || report.total > 0 else { return Plan(()) }
            var writes = Writes(change.map { [$0] } ?? [])
            writes.log("master_key.rotated", .success, reason: report.total > 0 ? report.description : "continued")
            return Plan((), writes)
        }
    }
}

/// Running servers that do not have a master key.
package struct ServersLackKey: Error, Sendable, Equatable {
    package var count: Int
}

extension StoreView {
    fileprivate func servers(lacking key: String, now: Date) throws -> ServersLackKey? {
        let count = try runningServers(now: now).count { !$0.keys.contains(key) }
        return count == 0 ? nil : ServersLackKey(count: count)
    }
}
