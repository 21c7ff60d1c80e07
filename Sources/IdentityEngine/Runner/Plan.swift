/// The answer, the changes and the log events of a decision. The runner commits them
/// (``IdentityEngine/transact(_:byConfiguration:read:check:needsMore:decide:)``).
struct Plan<Answer: Sendable>: Sendable {
    /// The use of a client assertion, a DPoP proof or a device's signed answer, each of which is accepted once.
    struct SingleUse: Sendable {
        /// Stores the use; conflicts if it is stored already.
        var change: Change
        /// The answer to a request that presents it again.
        var refused: Answer
        /// The log event of that answer; `nil` for none.
        var event: LoggedEvent?
    }

    /// Applied before ``writes``, in this order, in the same commit.
    var uses: [SingleUse] = []
    var writes: Writes
    /// The part of ``writes`` that is committed even if one of ``uses`` was made before: the counters of a wrong guess.
    var kept = Writes()
    /// The answer once everything is committed.
    var answer: Answer

    init(_ answer: Answer, _ writes: Writes = Writes()) {
        self.answer = answer
        self.writes = writes
    }

    /// The same writes with another answer.
    func map<Other: Sendable>(_ transform: (Answer) throws -> Other) rethrows -> Plan<Other> {
        var plan = Plan<Other>(try transform(answer), writes)
        plan.kept = kept
        plan.uses = try uses.map { .init(change: $0.change, refused: try transform($0.refused), event: $0.event) }
        return plan
    }
}

/// The changes and log events of a decision, committed together.
struct Writes: Sendable {
    /// In the order in which they are applied.
    var changes: [Change]
    var events: [LoggedEvent]

    init(_ changes: [Change] = [], events: [LoggedEvent] = []) {
        self.changes = changes
        self.events = events
    }

    var isEmpty: Bool { changes.isEmpty && events.isEmpty }

    /// Adds a log event.
    mutating func log(
        _ type: String, _ outcome: LogEvent.Outcome, reason: String? = nil, userID: String? = nil, clientID: String? = nil,
        server: String? = nil
    ) {
        events.append(LoggedEvent(type, outcome, reason: reason, userID: userID, clientID: clientID, server: server))
    }

    static func + (a: Writes, b: Writes) -> Writes { Writes(a.changes + b.changes, events: a.events + b.events) }
    static func + (a: Writes, b: [Change]) -> Writes { Writes(a.changes + b, events: a.events) }
    static func += (a: inout Writes, b: Writes) { a = a + b }
    static func += (a: inout Writes, b: [Change]) { a.changes += b }
}

/// A line of the system log before the runner adds its time, its id and the request.
struct LoggedEvent: Sendable, Equatable {
    var type: String
    var outcome: LogEvent.Outcome
    var reason: String?
    var userID: String?
    var clientID: String?
    var server: String?

    init(
        _ type: String, _ outcome: LogEvent.Outcome, reason: String? = nil, userID: String? = nil, clientID: String? = nil,
        server: String? = nil
    ) {
        self.type = type
        self.outcome = outcome
        self.reason = reason
        self.userID = userID
        self.clientID = clientID
        self.server = server
    }
}

/// A slow check, such as a password hash, which runs between the read and the decision.
///
/// Two checks are equal if their inputs are equal. After a conflict, the runner reuses the verdict of an equal check.
struct Check<Verdict: Sendable>: Sendable, Equatable {
    private let inputs: any Equatable & Sendable
    /// Runs outside of the store.
    let judge: @Sendable () async throws -> Verdict

    init(of inputs: some Equatable & Sendable, judge: @escaping @Sendable () async throws -> Verdict) {
        self.init(inputs: inputs, judge: judge)
    }

    /// The same check with another verdict.
    func map<Other: Sendable>(
        _ transform: @escaping @Sendable (@Sendable () async throws -> Verdict) async throws -> Other
    ) -> Check<Other> {
        Check<Other>(inputs: inputs) { [judge] in try await transform(judge) }
    }

    private init(inputs: any Equatable & Sendable, judge: @escaping @Sendable () async throws -> Verdict) {
        self.inputs = inputs
        self.judge = judge
    }

    static func == (a: Check, b: Check) -> Bool { a.inputs.isEqual(to: b.inputs) }
}

extension Equatable {
    fileprivate func isEqual(to other: any Equatable) -> Bool { (other as? Self) == self }
}
