internal import Foundation
package import JOSE
internal import Store

extension Engine {
    /// Empties the store and applies a definition to it as to a new store, for the sandbox's reset. Deletes every record and ticket: users,
    /// factors, sessions, grants, transactions, counters, the system log and the signing keys. It is one commit, so no request sees a store
    /// without an organization or keys. Also resets the counters in memory of this engine; other engines of the store need
    /// ``forgetCounts()``. Throws ``OrganizationError``, without any change, if the definition is invalid.
    package func startOver(
        with definition: OrganizationDefinition, context: RequestContext, making make: @Sendable (JWSAlgorithm) throws -> SigningKey
    ) async throws {
        let problems = definition.problems()
        guard problems.isEmpty else { throw OrganizationError(problems: problems) }
        let definition = try RecordCoding.decode(OrganizationDefinition.self, from: try RecordCoding.encode(definition))
        let keys = try definition.signingAlgorithms.map {
            Change.put(try firstKey(make($0), rotation: definition.keyRotation, now: context.now).record)
        }
        try await transact(context) { [environment] (reading: Reading<[String: String]>) in
            let removals = try RecordKind.allCases.flatMap { kind in
                try reading.view.allRecords(kind).map { Change.remove(kind, id: $0.id, version: $0.version) }
            }
            let plan = try ApplyPlan(
                definition, options: ApplyOptions(), hashes: reading.verdict ?? [:], view: EmptyStoreView(), environment: environment,
                now: context.now)
            return (removals, plan)
        } check: { (_: [Change], plan: ApplyPlan) in
            guard !plan.missingHashes.isEmpty else { return nil }
            return Check(of: plan.missingHashes) { [self] in
                plan.hashes.merging(try await hash(plan.missingHashes, policy: definition.passwordPolicy)) { $1 }
            }
        } needsMore: { _, _ in
            true
        } decide: { state, _ in
            var writes = Writes(state.0 + state.1.keyCheck + state.1.changes + keys)
            writes.log("organization.apply", .success, reason: "the sandbox was reset")
            return Plan((), writes)
        }
        await forgetCounts()
    }

    /// Resets the counters in memory, and reads the configuration again.
    package func forgetCounts() async {
        rateLimiter.forgetAll()
        pollPacer.forgetAll()
        messagePacer.forgetAll()
        await readAgain()
    }
}

private struct EmptyStoreView: StoreView {
    func configurationVersion() throws -> Int64 { 0 }
    func record(_ kind: RecordKind, id: String) throws -> Record? { nil }
    func records(_ kind: RecordKind, where key: String, is value: String, limit: Int) throws -> [Record] { [] }
    func records(_ kind: RecordKind, after id: String?, limit: Int) throws -> [Record] { [] }
    func ticket(_ kind: TicketKind, digest: TicketDigest, now: Date) throws -> TicketState { .unknown }
}
