internal import Foundation

/// The read of a request.
struct Reading<Verdict: Sendable> {
    /// The store as the read sees it.
    let view: any StoreView
    /// The source of random bytes and decoys.
    let engine: IdentityEngine
    /// The verdict of the request's check; `nil` before the check.
    let verdict: Verdict?
    /// Whether the request was read before. Counters in memory move once per request, with the first read.
    let isRepeated: Bool

    /// The configuration in that view.
    ///
    /// - Throws: ``StoreError``, also if the store holds no organization yet.
    var snapshot: OrgSnapshot { get throws { try engine.snapshot(view) } }
}

/// A view that answers a repeated query for a list from memory: a request reads the enrolments of a user once.
private final class RequestView: StoreView {
    private struct Query: Hashable {
        let kind: RecordKind
        let key: String
        let value: String
        let limit: Int
    }

    private let view: any StoreView
    private var lists: [Query: [Record]] = [:]

    init(_ view: any StoreView) { self.view = view }

    func configurationVersion() throws -> Int64 { try view.configurationVersion() }
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

/// The only code that retries, commits and writes the system log.
extension IdentityEngine {
    /// The maximum number of conflicts of one request. Each one means that another request committed.
    static let attempts = 1_000

    /// Runs a request that reads state, decides on it and changes it.
    ///
    /// One read, one check if there is one, one commit. After a conflict the runner reads again, keeps the verdict if the check is equal, and
    /// decides again. A plan that writes nothing is answered without a commit.
    ///
    /// - Parameters:
    ///   - context: The request.
    ///   - byConfiguration: Returns the state if the configuration suffices for it. The runner then decides by the cached configuration without
    ///     a read; a decision that writes is committed on the condition that the configuration is still the same, and one that writes nothing is
    ///     repeated with a read.
    ///   - read: Reads and decodes the state, synchronously, in one view of the store.
    ///   - check: Returns the slow check that the decision needs; `nil` for none.
    ///   - needsMore: Whether the decision needs another read, which knows the verdict.
    ///   - decide: Decides: pure, synchronous, and possibly called several times.
    /// - Returns: The plan's answer, once its writes are committed.
    /// - Throws: ``StoreError`` if the store failed; then nothing was written. What the closures throw.
    func transact<State: Sendable, Verdict: Sendable, Answer: Sendable>(
        _ context: RequestContext, byConfiguration: (OrgSnapshot) throws -> State? = { _ in nil },
        read: @escaping @Sendable (Reading<Verdict>) throws -> State, check: (State) throws -> Check<Verdict>?,
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
        for attempt in 0..<Self.attempts {
            let known = judged?.verdict
            let state = try await store.read { [self] view in
                try read(Reading(view: RequestView(view), engine: self, verdict: known, isRepeated: attempt > 0))
            }
            var verdict: Verdict?
            if let check = try check(state) {
                if let judged, judged.check == check {
                    verdict = judged.verdict
                } else {
                    let fresh = try await check.judge()
                    judged = (check, fresh)
                    if needsMore(state, fresh) { continue }
                    verdict = fresh
                }
            }
            let plan = try await store.preparingCommit { try decide(state, verdict) }
            if let answer = try await commit(plan, context: context) { return answer }
        }
        throw StoreError(.unavailable, "The request met other writers \(Self.attempts) times. Try it again.")
    }

    /// The same without a check.
    func transact<State: Sendable, Answer: Sendable>(
        _ context: RequestContext, read: @escaping @Sendable (Reading<Never>) throws -> State, decide: (State) throws -> Plan<Answer>
    ) async throws -> Answer {
        try await transact(context, read: read, check: { _ in nil }) { state, _ in try decide(state) }
    }

    /// The same for requests that can be refused: a refusal that `read`, `check` or `decide` throws is the answer, and nothing is written.
    func transact<State: Sendable, Verdict: Sendable, Success: Sendable, Failure: Error>(
        _ context: RequestContext, refusing: Failure.Type, read: @escaping @Sendable (Reading<Verdict>) throws -> State,
        check: (State) throws -> Check<Verdict>?, needsMore: (State, Verdict) -> Bool = { _, _ in false },
        decide: (State, Verdict?) throws -> Plan<Result<Success, Failure>>
    ) async throws -> Result<Success, Failure> {
        do {
            return try await transact(context, read: read, check: check, needsMore: needsMore, decide: decide)
        } catch let refusal as Failure {
            return .failure(refusal)
        }
    }

    /// The same without a check.
    func transact<State: Sendable, Success: Sendable, Failure: Error>(
        _ context: RequestContext, refusing: Failure.Type, read: @escaping @Sendable (Reading<Never>) throws -> State,
        decide: (State) throws -> Plan<Result<Success, Failure>>
    ) async throws -> Result<Success, Failure> {
        try await transact(context, refusing: refusing, read: read, check: { _ in nil }) { state, _ in try decide(state) }
    }

    /// Commits writes that depend on nothing that was read.
    func write(_ writes: Writes, context: RequestContext) async throws {
        _ = try await commit(Plan((), writes), context: context)
    }

    /// Commits a plan.
    ///
    /// - Returns: The answer; `nil` after a conflict that has no answer.
    func commit<Answer: Sendable>(
        _ plan: Plan<Answer>, _ conditions: [Change] = [], context: RequestContext
    ) async throws -> Answer? {
        guard !plan.uses.isEmpty || !plan.writes.isEmpty else { return plan.answer }
        let changes = try plan.uses.map(\.change) + changes(of: plan.writes, context: context) + conditions
        switch try await store.commit(changes) {
        case .committed:
            return plan.answer
        case .conflict(let index, .version) where index < plan.uses.count:
            let use = plan.uses[index]
            if let event = use.event { _ = try await store.commit([try line(event, context)]) }
            return use.refused
        case .conflict:
            return nil
        }
    }

    /// The changes of writes: their own, and a record for each log event.
    func changes(of writes: Writes, context: RequestContext) throws -> [Change] {
        try writes.changes + writes.events.map { try line($0, context) }
    }

    private func line(_ event: LoggedEvent, _ context: RequestContext) throws -> Change {
        try logEntry(
            event.type, event.outcome, reason: event.reason, userID: event.userID, clientID: event.clientID, server: event.server,
            context: context)
    }
}
