internal import Foundation
package import Store

/// One read of the store for a request: the view, the engine, and the result of the request's check.
package struct Reading<Verdict: Sendable> {
    package let view: any StoreView
    /// The engine, from which the request gets random bytes and decoys.
    package let engine: Engine
    /// The verdict of the request's check; `nil` before the check.
    package let verdict: Verdict?
    /// Whether this is a repeated read for the same request. Rate limits count only the first read.
    package let isRepeated: Bool
    /// Whether a commit of this request conflicted, because another request committed first.
    package let hasConflicted: Bool

    package init(view: any StoreView, engine: Engine, verdict: Verdict?, isRepeated: Bool, hasConflicted: Bool) {
        (self.view, self.engine, self.verdict, self.isRepeated, self.hasConflicted) = (view, engine, verdict, isRepeated, hasConflicted)
    }

    /// The configuration in the view. Throws ``StoreError``, also if the store contains no organization yet.
    package var snapshot: OrgSnapshot { get throws { try engine.snapshot(view) } }
}

/// A view that caches list queries and the configuration's version, so that one read loads the user's enrollments once.
private final class RequestView: StoreView {
    private struct Query: Hashable {
        let kind: RecordKind
        let key: String
        let value: String
        let limit: Int
    }

    private let view: any StoreView
    private var lists: [Query: [Record]] = [:]
    private var version: Int64?

    init(_ view: any StoreView) { self.view = view }

    func configurationVersion() throws -> Int64 {
        if let version { return version }
        let read = try view.configurationVersion()
        version = read
        return read
    }

    func record(_ kind: RecordKind, id: String) throws -> Record? { try view.record(kind, id: id) }

    func records(_ kind: RecordKind, where key: String, is value: String, limit: Int) throws -> [Record] {
        let query = Query(kind: kind, key: key, value: value, limit: limit)
        if let known = lists[query] { return known }
        let list = try view.records(kind, where: key, is: value, limit: limit)
        lists[query] = list
        return list
    }

    func records(_ kind: RecordKind, after id: String?, limit: Int) throws -> [Record] { try view.records(kind, after: id, limit: limit) }

    func ticket(_ kind: TicketKind, digest: TicketDigest, now: Date) throws -> TicketState {
        try view.ticket(kind, digest: digest, now: now)
    }
}

/// The only code that retries, commits, writes the system log and hands over deliveries.
extension Engine {
    /// The maximum number of conflicts of one request. Each conflict means that another request committed first.
    static let attempts = 32
    /// The maximum number of conflicts after a slow check, whose verdict should not be discarded, and of a plan that counts a guess.
    static let judgedAttempts = 1_000

    /// Runs a request that reads state, decides on it and changes it. Without a conflict: one read, an optional check, one commit.
    /// `needsMore` adds a read. After a conflict the runner reads and decides again; it reuses the verdict of an equal check. A plan
    /// without writes returns without a commit. Throws ``StoreError`` if the store failed, and errors of the closures; then nothing was
    /// written.
    /// - Parameters:
    ///   - byConfiguration: Returns the state if it depends on the configuration only. The runner then decides by the cached configuration,
    ///     without a read, and the commit conflicts if the configuration has changed. A decision without writes is repeated with a read.
    ///   - lookup: Returns the rows that the read needs, so that a database can return them in one round trip. The verdict is `nil` in the
    ///     first read. A query that is not declared takes longer; if it is made for some accounts only, the time reveals whether an account
    ///     exists.
    ///   - read: Reads and decodes the state, synchronously, in one view of the store.
    ///   - check: Returns the slow check that the decision needs; `nil` for none.
    ///   - needsMore: Returns whether the decision needs another read, which gets the verdict.
    ///   - decide: Returns the plan, synchronously and without access to the store. The runner can call it several times.
    package func transact<State: Sendable, Verdict: Sendable, Answer: Sendable>(
        _ context: RequestContext, byConfiguration: (OrgSnapshot) throws -> State? = { _ in nil },
        lookup: @escaping @Sendable (Verdict?) -> Lookup = { _ in Lookup() }, read: @escaping @Sendable (Reading<Verdict>) throws -> State,
        check: (State) throws -> Check<Verdict>?,
        needsMore: (State, Verdict) -> Bool = { _, _ in false }, decide: (State, Verdict?) throws -> Plan<Answer>
    ) async throws -> Answer {
        if let cached = latestSnapshot, let state = try byConfiguration(cached) {
            let plan = try await store.preparingCommit { try decide(state, nil) }
            if !plan.writes.isEmpty || !plan.uses.isEmpty {
                let condition = [Change.requireConfiguration(cached.version)]
                if let answer = try await commit(plan, condition, context: context) { return answer }
            }
        }
        var judged: (check: Check<Verdict>, verdict: Verdict)?
        var conflicts = 0
        var isRepeated = false
        var isCounting = false
        while conflicts < (judged == nil && !isCounting ? Self.attempts : Self.judgedAttempts) {
            // A request whose client disconnected is completed, unless it met a conflict.
            if conflicts > 0 { try Task.checkCancellation() }
            let (known, isLater, hasConflicted) = (judged?.verdict, isRepeated, conflicts > 0)
            let state = try await store.read {
                lookup(known)
            } _: { [self] view in
                try read(
                    Reading(view: RequestView(view), engine: self, verdict: known, isRepeated: isLater, hasConflicted: hasConflicted))
            }
            isRepeated = true
            var verdict: Verdict?
            if let check = try check(state) {
                if let judged, judged.check == check {
                    verdict = judged.verdict
                } else {
                    let fresh = try await check.judge()
                    judged = (check, fresh)
                    if needsMore(state, fresh) {
                        // Limits the rounds, each of which reads another state.
                        if known != nil { conflicts += 1 }
                        continue
                    }
                    verdict = fresh
                }
            }
            let plan = try await store.preparingCommit { try decide(state, verdict) }
            if let answer = try await commit(plan, context: context) { return answer }
            isCounting = isCounting || plan.writes.countsGuess
            conflicts += 1
        }
        throw StoreError(.unavailable, "The request met other writers \(conflicts) times. Try it again.")
    }

    /// Runs a request without a check.
    package func transact<State: Sendable, Answer: Sendable>(
        _ context: RequestContext, lookup: @escaping @Sendable () -> Lookup = { Lookup() },
        read: @escaping @Sendable (Reading<Never>) throws -> State, decide: (State) throws -> Plan<Answer>
    ) async throws -> Answer {
        try await transact(context, lookup: { _ in lookup() }, read: read, check: { _ in nil }) { state, _ in try decide(state) }
    }

    /// Runs a request that can be rejected: a refusal that `read`, `check` or `decide` throws is returned, and nothing is written.
    package func transact<State: Sendable, Verdict: Sendable, Success: Sendable, Failure: Error>(
        _ context: RequestContext, refusing: Failure.Type, lookup: @escaping @Sendable (Verdict?) -> Lookup = { _ in Lookup() },
        read: @escaping @Sendable (Reading<Verdict>) throws -> State,
        check: (State) throws -> Check<Verdict>?, needsMore: (State, Verdict) -> Bool = { _, _ in false },
        decide: (State, Verdict?) throws -> Plan<Result<Success, Failure>>
    ) async throws -> Result<Success, Failure> {
        do {
            return try await transact(context, lookup: lookup, read: read, check: check, needsMore: needsMore, decide: decide)
        } catch let refusal as Failure {
            return .failure(refusal)
        }
    }

    /// Runs a request without a check that can be rejected.
    package func transact<State: Sendable, Success: Sendable, Failure: Error>(
        _ context: RequestContext, refusing: Failure.Type, lookup: @escaping @Sendable () -> Lookup = { Lookup() },
        read: @escaping @Sendable (Reading<Never>) throws -> State, decide: (State) throws -> Plan<Result<Success, Failure>>
    ) async throws -> Result<Success, Failure> {
        try await transact(context, refusing: refusing, lookup: { _ in lookup() }, read: read, check: { _ in nil }) { state, _ in
            try decide(state)
        }
    }

    /// Commits writes that do not depend on a read, such as log events. Throws ``StoreError``, also after a conflict.
    package func write(_ writes: Writes, context: RequestContext) async throws {
        guard try await commit(Plan((), writes), context: context) != nil else {
            throw StoreError(.unavailable, "A write met another writer. Try it again.")
        }
    }

    /// Commits a plan. Returns the response; `nil` after a conflict, which the caller retries.
    private func commit<Answer: Sendable>(
        _ plan: Plan<Answer>, _ conditions: [Change] = [], context: RequestContext
    ) async throws -> Answer? {
        guard !plan.uses.isEmpty || !plan.writes.isEmpty else { return plan.answer }
        let changes = try plan.uses.map(\.change) + changes(of: plan.writes, context: context) + conditions
        switch try await store.commit(changes) {
        case .committed:
            reportTransactions(writtenBy: changes)
            reportEvents(plan.writes.events)
            messagePacer.remember(writtenBy: changes)
            if !plan.writes.outbox.isEmpty { courier?.deliver(plan.writes.outbox, of: self) }
            return plan.answer
        case .conflict(let index, .version) where index < plan.uses.count:
            let use = plan.uses[index]
            var kept = plan.kept
            kept.events += use.event.map { [$0] } ?? []
            guard !kept.isEmpty else { return use.refused }
            let counted = try self.changes(of: kept, context: context)
            guard try await store.commit(counted) == .committed else { return nil }
            reportTransactions(writtenBy: counted)
            reportEvents(kept.events)
            return use.refused
        case .conflict:
            try await messagePacer.readAgain(changes, from: store, now: context.now)
            return nil
        }
    }

    /// Returns the changes of writes and a record for each log event.
    private func changes(of writes: Writes, context: RequestContext) throws -> [Change] {
        try writes.changes + writes.events.map { try logEntry($0, context: context) }
    }
}
