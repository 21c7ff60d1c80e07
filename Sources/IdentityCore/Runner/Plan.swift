package import Store

/// The response of a decision, with its changes and log events, which the runner commits, and its deliveries, which the runner hands over
/// after the commit (``Engine/transact(_:byConfiguration:read:check:needsMore:decide:)``).
package struct Plan<Answer: Sendable>: Sendable {
    /// The use of a client assertion, a DPoP proof or a device's signed response, each of which is accepted once.
    package struct SingleUse: Sendable {
        /// The change that stores the use; it conflicts if the use is stored already.
        package var change: Change
        /// The response to a repeated use.
        package var refused: Answer
        /// The log event of a repeated use; `nil` for none.
        package var event: LoggedEvent?

        package init(change: Change, refused: Answer, event: LoggedEvent? = nil) {
            (self.change, self.refused, self.event) = (change, refused, event)
        }
    }

    /// The single uses, which are applied before ``writes``, in this order, in the same commit.
    package var uses: [SingleUse] = []
    package var writes: Writes
    /// The part of ``writes`` that is committed even if one of ``uses`` is repeated: the counters of a wrong guess. The outbox of this part
    /// is not sent.
    package var kept = Writes()
    /// The response after everything is committed.
    var answer: Answer

    package init(_ answer: Answer, _ writes: Writes = Writes()) {
        self.answer = answer
        self.writes = writes
    }

    /// Returns a plan with the same writes and another response.
    package func map<Other: Sendable>(_ transform: (Answer) throws -> Other) rethrows -> Plan<Other> {
        var plan = Plan<Other>(try transform(answer), writes)
        plan.kept = kept
        plan.uses = try uses.map { .init(change: $0.change, refused: try transform($0.refused), event: $0.event) }
        return plan
    }
}

/// The changes and log events of a decision, committed together, and the deliveries that follow the commit.
package struct Writes: Sendable {
    /// The changes, in the order in which they are applied.
    package var changes: [Change]
    package var events: [LoggedEvent]
    /// The deliveries, which are handed over after the commit, each at most once.
    package var outbox: [OutboxEntry]
    /// Whether the writes count a wrong guess in a record that several accounts share. Every guess must be counted before its response,
    /// even if many are concurrent, so the runner permits more conflicts.
    var countsGuess = false

    package init(_ changes: [Change] = [], events: [LoggedEvent] = [], outbox: [OutboxEntry] = []) {
        (self.changes, self.events, self.outbox) = (changes, events, outbox)
    }

    package var isEmpty: Bool { changes.isEmpty && events.isEmpty && outbox.isEmpty }

    package mutating func log(
        _ type: String, _ outcome: LogEvent.Outcome, reason: String? = nil, userID: String? = nil, clientID: String? = nil,
        server: String? = nil
    ) {
        events.append(LoggedEvent(type, outcome, reason: reason, userID: userID, clientID: clientID, server: server))
    }

    package static func + (a: Writes, b: Writes) -> Writes {
        var sum = a
        sum += b
        return sum
    }

    package static func + (a: Writes, b: [Change]) -> Writes { a + Writes(b) }

    package static func += (a: inout Writes, b: Writes) {
        a.changes += b.changes
        a.events += b.events
        a.outbox += b.outbox
        a.countsGuess = a.countsGuess || b.countsGuess
    }

    package static func += (a: inout Writes, b: [Change]) { a.changes += b }
}

/// A delivery that a decision causes: a push, a message, or the signal that logout notifications are due.
package enum OutboxEntry: Sendable {
    case push(PushMessage)
    case message(OutgoingMessage)
    /// Back-channel logouts, which were committed as records, are due.
    case logouts
}

/// Sends the outbox entries of commits.
package protocol Courier: Sendable {
    /// Enqueues entries and returns at once. Called after the commit that causes them, from any thread. A courier must release `engine`
    /// when the entries are sent, because the engine owns the courier.
    func deliver(_ entries: [OutboxEntry], of engine: Engine)
}

/// A line of the system log before the runner adds its time, its id and the request.
package struct LoggedEvent: Sendable, Equatable {
    var type: String
    var outcome: LogEvent.Outcome
    package var reason: String?
    var userID: String?
    var clientID: String?
    var server: String?

    package init(
        _ type: String, _ outcome: LogEvent.Outcome, reason: String? = nil, userID: String? = nil, clientID: String? = nil,
        server: String? = nil
    ) {
        (self.type, self.outcome, self.reason, self.userID, self.clientID, self.server) = (type, outcome, reason, userID, clientID, server)
    }
}

/// A slow check, such as a password hash, which runs between the read and the decision. Two checks are equal if their inputs are equal.
/// After a conflict, the runner reuses the verdict of an equal check.
package struct Check<Verdict: Sendable>: Sendable, Equatable {
    private let inputs: any Equatable & Sendable
    /// The check itself, which runs outside the store.
    let judge: @Sendable () async throws -> Verdict

    package init(of inputs: some Equatable & Sendable, judge: @escaping @Sendable () async throws -> Verdict) {
        self.init(inputs: inputs, judge: judge)
    }

    package func map<Other: Sendable>(
        _ transform: @escaping @Sendable (@Sendable () async throws -> Verdict) async throws -> Other
    ) -> Check<Other> {
        Check<Other>(inputs: inputs) { [judge] in try await transform(judge) }
    }

    private init(inputs: any Equatable & Sendable, judge: @escaping @Sendable () async throws -> Verdict) {
        self.inputs = inputs
        self.judge = judge
    }

    package static func == (a: Check, b: Check) -> Bool { a.inputs.isEqual(to: b.inputs) }
}

extension Equatable {
    fileprivate func isEqual(to other: any Equatable) -> Bool { (other as? Self) == self }
}
