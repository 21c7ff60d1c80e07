internal import Foundation
package import JOSE

extension IdentityEngine {
    /// Empties the store and applies a definition to it as to a new store, for the sandbox's reset.
    ///
    /// Deletes every record and ticket: users, factors, sessions, grants, transactions, counters, the system log and the signing keys. It is one
    /// commit, so no request sees a store without an organization or keys. Also resets the counters in memory.
    ///
    /// - Parameters:
    ///   - definition: The new organization.
    ///   - context: The time and the request's id.
    ///   - make: Makes a signing key for an algorithm.
    /// - Throws: ``OrganizationError`` if the definition contradicts itself (nothing is changed then); ``StoreError`` if the store failed; errors
    ///   of `make`.
    package func startOver(
        with definition: OrganizationDefinition, context: RequestContext, making make: @Sendable (JWSAlgorithm) throws -> SigningKey
    ) async throws {
        let problems = definition.problems()
        guard problems.isEmpty else { throw OrganizationError(problems: problems) }
        let definition = try RecordCoding.decode(OrganizationDefinition.self, from: try RecordCoding.encode(definition))
        let keys = try definition.signingAlgorithms.map {
            Change.put(try firstKey(make($0), rotation: definition.keyRotation, now: context.now).record)
        }
        var hashes: [String: String] = [:]
        // A concurrent commit causes a conflict; each attempt reads the store again.
        for _ in 0..<64 {
            let known = hashes
            let (removals, plan) = try await store.read { [environment] view in
                let removals = try RecordKind.allCases.flatMap { kind in
                    try view.allRecords(kind).map { Change.remove(kind, id: $0.id, version: $0.version) }
                }
                let plan = try ApplyPlan(
                    definition, options: ApplyOptions(), hashes: known, view: EmptyStoreView(), environment: environment, now: context.now)
                return (removals, plan)
            }
            guard plan.missingHashes.isEmpty else {
                hashes.merge(try await hash(plan.missingHashes, policy: definition.passwordPolicy)) { $1 }
                continue
            }
            let log = try logEntry("organization.apply", .success, reason: "the sandbox was reset", context: context)
            guard try await store.commit(removals + plan.keyCheck + plan.changes + keys + [log]) == .committed else { continue }
            rateLimiter.forgetAll()
            pollPacer.forgetAll()
            messagePacer.forgetAll()
            recoveryPacer.forgetAll()
            await readAgain()
            return
        }
        throw StoreError(.unavailable, "The store changed on every attempt to empty it. Try again.")
    }
}

/// An empty store.
private struct EmptyStoreView: StoreView {
    func configurationVersion() throws -> Int64 { 0 }
    func record(_ kind: RecordKind, id: String) throws -> Record? { nil }
    func records(_ kind: RecordKind, where key: String, is value: String, limit: Int) throws -> [Record] { [] }
    func records(_ kind: RecordKind, after id: String?, limit: Int) throws -> [Record] { [] }
    func ticket(_ kind: TicketKind, digest: TicketDigest, now: Date) throws -> TicketState { .unknown }
}
