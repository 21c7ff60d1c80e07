@testable import IdentityCore
@testable import Store

/// Commits the plans of two requests that read the same state. It follows the rules of the runner (``Engine/transact``) and of the store in
/// memory.
struct CommitCheck {
    /// A request whose plan writes something.
    struct Request {
        let input: ExploredInput
        let given: SignInTransaction.Input
        let changes: [Change]
        /// The ledger after the commit of the request.
        let ledger: SignInLedger

        var written: Set<RecordReference> {
            Set(changes.compactMap { if case .put(let record) = $0 { RecordReference(record.kind, record.id) } else { nil } })
        }
    }

    /// A request that must be decided again, after the commit of another request.
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

    /// Adds a request that read the state, if its decision writes something.
    mutating func add(_ input: ExploredInput, _ given: SignInTransaction.Input, _ decision: Decision, _ ledger: SignInLedger) throws {
        let changes = try Self.changes(of: decision, from: read, user: input.person.map { $0.stored(version: $0.version) }, app: 0)
        if !changes.isEmpty { requests.append(Request(input: input, given: given, changes: changes, ledger: ledger)) }
    }

    /// Returns a pair for each request: a request that commits first, and the request itself, whose commit fails. `turn` selects the first
    /// one; it can be the same request, sent twice.
    func pairs(turn: Int) -> [(first: Request, lost: Request)] {
        requests.indices.map { (requests[($0 + turn) % requests.count], requests[$0]) }
    }

    /// Commits the plan of the first request, and checks that neither a second commit of this plan nor the plan of the other request
    /// succeeds.
    ///
    /// - Returns: The retry of the other request; `nil` if the two requests write different records, or if there is no input for the retry.
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
        // The account can also change between the two requests. The retry reads the account that its input names.
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

    /// Returns the changes that every protocol module commits for a step.
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
    /// Commits all changes or none, like ``InMemoryStore/commit(_:)``. Returns whether the changes were committed.
    fileprivate mutating func commit(_ changes: [Change]) -> Bool {
        var undo = InMemoryStore.UndoLog()
        for change in changes where apply(change, &undo) != nil {
            revert(undo)
            return false
        }
        return true
    }

    /// Stores the account of a person with this version.
    fileprivate mutating func hold(_ person: ExploredPerson, version: Int64) {
        var record = person.record
        record.version = version
        records[.user]?[record.id] = record
    }
}

extension ExploredPerson {
    /// The version of the account at the first read. It differs for each person.
    fileprivate var version: Int64 { Int64(Self.allCases.firstIndex(of: self) ?? 0) * 100 + 1 }

    /// The version of the account when a request is decided again. It differs from ``version`` even if the account is the same.
    fileprivate var laterVersion: Int64 { version + 1_000_000 }

    fileprivate func stored(version: Int64) -> StoredUser {
        var stored = StoredUser(new: user, origin: .api)
        stored.version = version
        return stored
    }

    /// The records of all persons. They are created once, because every check needs them.
    private static let records = try? Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, try $0.stored(version: 0).record(holding: $0.user)) })

    fileprivate var record: Record { Self.records?[self] ?? Record(kind: .user, id: user.id, payload: []) }
}

extension ExploredInput {
    /// Returns the input after another request, which can have replaced the challenge that the input answers.
    ///
    /// - Returns: The input; `nil` for a report of a challenge that was replaced twice, because the ledger does not note such a challenge.
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
