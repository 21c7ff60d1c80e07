@testable import IdentityCore
@testable import Store

/// Lets two requests read one state, and commits their plans by the rules of the runner (``Engine/transact``) and of the store in memory.
struct CommitCheck {
    /// A request whose plan writes something.
    struct Request {
        let input: ExploredInput
        let given: SignInTransaction.Input
        let changes: [Change]
        /// The notes after its commit.
        let ledger: SignInLedger

        var written: Set<RecordReference> {
            Set(changes.compactMap { if case .put(let record) = $0 { RecordReference(record.kind, record.id) } else { nil } })
        }
    }

    /// A request that must be decided again, in the state that the other request committed.
    struct Retry {
        let input: ExploredInput
        let state: ExploredState
        fileprivate let read: StoredTransaction
        fileprivate var store: InMemoryStore.State
    }

    let policy: ExploredPolicy
    private let state: ExploredState
    private let read: StoredTransaction
    private var store = InMemoryStore.State()
    private var requests: [Request] = []

    init(_ policy: ExploredPolicy, _ state: ExploredState) throws {
        (self.policy, self.state) = (policy, state)
        var record = try state.transaction.record()
        record.version = 1
        store.records = [.transaction: [record.id: record], .user: [:], .enrollment: [:]]
        read = try StoredTransaction(record)
        if read.value != state.transaction { throw Broken("the stored sign-in differs from the one that was written") }
    }

    /// Adds a request that read the state.
    mutating func add(_ input: ExploredInput, _ given: SignInTransaction.Input, _ decision: Decision, _ ledger: SignInLedger) throws {
        let changes = try Self.changes(of: decision, from: read, user: input.person.map { $0.stored(version: $0.version) }, app: 0)
        if !changes.isEmpty { requests.append(Request(input: input, given: given, changes: changes, ledger: ledger)) }
    }

    /// Each request, with one that commits first. It is another one in each state, and sometimes the same one, which the client sent twice.
    func pairs(turn: Int) -> [(first: Request, lost: Request)] {
        requests.indices.map { (requests[($0 + turn) % requests.count], requests[$0]) }
    }

    /// Commits the plan of the first request, twice, and then that of the other one, which read the same state. Returns what the other
    /// request is retried with; `nil` if both can be committed, because they write different records.
    func conflict(_ first: Request, _ lost: Request) throws -> Retry? {
        guard !first.written.isDisjoint(with: lost.written), let input = lost.input.after(first.ledger, before: state.ledger) else {
            return nil
        }
        var store = store
        if let person = first.input.person { store.hold(person, version: person.version) }
        guard store.commit(first.changes) else { throw Broken("a commit without another writer conflicted") }
        let records = store.records
        if store.commit(first.changes) { throw Broken("a plan was committed twice") }
        if store.commit(lost.changes) { throw Broken("a decision on an old state was committed") }
        if store.records != records { throw Broken("a conflict changed the store") }
        // The account can change between the requests too. The retry meets the account that its input names.
        if let person = lost.input.person { store.hold(person, version: person.laterVersion) }
        guard let record = store.records[.transaction]?[state.transaction.id] else { throw Broken("the sign-in was removed") }
        let read = try StoredTransaction(record)
        return Retry(
            input: input, state: ExploredState(transaction: read.value, ledger: first.ledger, now: state.now), read: read, store: store)
    }

    /// Commits the decision of a retry.
    func commit(_ decision: Decision, of retry: Retry) throws {
        var store = retry.store
        let app = store.records[.enrollment]?[ExploredInput.usedApp.id]?.version ?? 0
        let changes = try Self.changes(
            of: decision, from: retry.read, user: retry.input.person.map { $0.stored(version: $0.laterVersion) }, app: app)
        guard store.commit(changes) else { throw Broken("a retry without another writer conflicted") }
        let version = store.records[.transaction]?[state.transaction.id]?.version
        if version != retry.read.version + (decision.next == retry.read.value ? 0 : 1) { throw Broken("the retry was not written once") }
    }

    /// The changes that every protocol module commits for a step.
    private static func changes(
        of decision: Decision, from read: StoredTransaction, user: StoredUser?, app: Int64
    ) throws -> [Change] {
        let effects = decision.effects.map { effect in
            guard case .writeEnrollment(var used) = effect else { return effect }
            // The verifier read it in the same view.
            used.version = app
            return .writeEnrollment(used)
        }
        let changes = try Writes(effects, of: decision.next, user: user).changes
        return try decision.next == read.value ? changes : changes + [read.writing(decision.next)]
    }
}

extension InMemoryStore.State {
    /// Commits all changes or none, like ``InMemoryStore/commit(_:)``.
    fileprivate mutating func commit(_ changes: [Change]) -> Bool {
        var undo = InMemoryStore.UndoLog()
        for change in changes where apply(change, &undo) != nil {
            revert(undo)
            return false
        }
        return true
    }

    /// Stores the account as an administrator or another sign-in left it.
    fileprivate mutating func hold(_ person: ExploredPerson, version: Int64) {
        var record = person.record
        record.version = version
        records[.user]?[record.id] = record
    }
}

extension ExploredPerson {
    /// The version of the account at the first read. Accounts that differ have different versions.
    fileprivate var version: Int64 { Int64(Self.allCases.firstIndex(of: self) ?? 0) * 100 + 1 }

    /// The version of the account when a request is decided again. It can have changed in between, and changed back.
    fileprivate var laterVersion: Int64 { version + 1_000_000 }

    fileprivate func stored(version: Int64) -> StoredUser {
        var stored = StoredUser(new: user, origin: .api)
        stored.version = version
        return stored
    }

    /// Made once, because every check needs one.
    private static let records = try? Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, try $0.stored(version: 0).record(holding: $0.user)) })

    fileprivate var record: Record { Self.records?[self] ?? Record(kind: .user, id: user.id, payload: []) }
}

extension ExploredInput {
    /// The same request after another one, which can have replaced the challenge that it answers. `nil` for a report of a challenge that
    /// was replaced twice, because the ledger does not note it.
    fileprivate func after(_ ledger: SignInLedger, before: SignInLedger) -> ExploredInput? {
        guard case .answer(var answer) = self, ledger.challenges > before.challenges else { return self }
        switch answer.target {
        case .current(let device): answer.target = .replaced(device)
        case .replaced where answer.isSuspicious: return nil
        case .replaced, .foreign: answer.target = .foreign
        }
        return .answer(answer)
    }
}
