import Foundation

@testable import IdentityCore

/// The result of a step.
struct Decision {
    var next: SignInTransaction
    var outcome: SignInTransaction.Outcome
    var effects: [SignInTransaction.Effect]
}

/// Takes every sequence of inputs up to a maximum length, and compares each step with the ledger.
///
/// If several sequences lead to states with the same ``ExploredState/digest``, the exploration continues with one of them. Sequences
/// shorter than ``exactDepth`` merge only if the whole states are equal, so that they do not depend on the correctness of that digest.
struct SignInExploration {
    /// The first step that reached a state.
    private struct Origin {
        /// The index of the state before the step.
        var parent: Int
        var input: ExploredInput?
    }

    /// A step with an unexpected result.
    struct Violation: Error, CustomStringConvertible {
        var policy: String
        var path: [ExploredInput]
        var seconds: Int
        var text: String

        var description: String {
            "\(policy): \(text), at second \(seconds), after:\n" + path.map { "  \($0)" }.joined(separator: "\n")
        }
    }

    /// The number of inputs from which states merge by ``ExploredState/digest``.
    static let exactDepth = 6

    let policy: ExploredPolicy
    /// The subjects of all persons. They are created once, because almost every step needs one.
    private let subjects: [ExploredPerson: SignInTransaction.Subject]
    /// The maximum number of inputs in a sequence for which the commits of every state are checked.
    private let commitDepth: Int
    /// The interval of states whose commits are checked in sequences longer than ``commitDepth``.
    private static let commitInterval = 127
    /// The number of new states for each length of a sequence.
    private(set) var statesByDepth: [Int] = []
    private(set) var steps = 0
    /// The number of requests that were decided again after a failed commit.
    private(set) var retries = 0
    /// The number of occurrences of each outcome.
    private(set) var outcomes: [String: Int] = [:]
    private var expanded = 0
    private var known: Set<StateDigest> = []
    /// The first steps to the states from which longer sequences continue.
    private var origins: [Origin] = []
    /// The new states of the current length, from which the next length continues.
    private var frontier: [ExploredState] = []

    var states: Int { statesByDepth.reduce(0, +) }

    init(_ policy: ExploredPolicy, commitDepth: Int) {
        self.policy = policy
        self.commitDepth = commitDepth
        subjects = Dictionary(uniqueKeysWithValues: ExploredPerson.allCases.map { ($0, policy.subject($0)) })
    }

    /// Explores all sequences of at most `depth` inputs.
    ///
    /// - Throws: ``Violation`` with the sequence that leads to an unexpected result.
    mutating func run(depth: Int) throws {
        var level = [ExploredState(transaction: policy.transaction())]
        var first = 0
        origins = [Origin(parent: -1, input: nil)]
        known = [level[0].digest, level[0].exactDigest]
        statesByDepth = [1] + Array(repeating: 0, count: depth - 1)
        for length in 1..<max(depth, 2) {
            let end = origins.count
            frontier = []
            for (offset, state) in level.enumerated() { try expand(state, at: first + offset, length: length, depth: depth) }
            (level, first) = (frontier, end)
        }
    }

    /// Takes each input in a state. `length` is the number of inputs in the sequence including this one.
    private mutating func expand(_ state: ExploredState, at index: Int, length: Int, depth: Int) throws {
        expanded += 1
        var check = length <= commitDepth || expanded % Self.commitInterval == 0 ? try CommitCheck(policy, state) : nil
        for input in ExploredInput.all(policy, state.ledger, at: state.now) {
            steps += 1
            var next = state
            do {
                if case .wait(let until) = input {
                    next.now = until
                } else {
                    guard let given = input.input(policy, subjects, state.ledger, at: state.now) else { continue }
                    let decision = try judge(input, given, &next)
                    try check?.add(input, given, decision, next.ledger)
                }
            } catch let broken as Broken {
                throw violation(broken, after: [input], in: state, at: index)
            }
            // The exploration does not continue when the sign-in belongs to another user, because the steps would be the same.
            guard length < depth, next.ledger.met?.isJane ?? true, isNew(next, length: length) else { continue }
            statesByDepth[length] += 1
            origins.append(Origin(parent: index, input: input))
            if length + 1 < depth {
                frontier.append(next)
            } else {
                // Most states have this length, so they are explored at once and not kept.
                try expand(next, at: origins.count - 1, length: depth, depth: depth)
                origins.removeLast()
            }
        }
        for (first, lost) in check?.pairs(turn: expanded) ?? [] {
            do {
                guard let check, let retry = try check.conflict(first, lost) else { continue }
                retries += 1
                var next = retry.state
                // A retry uses the same answer of the device. Other inputs depend on the state that they read.
                let isAnswer = if case .answer = retry.input { true } else { false }
                guard let given = isAnswer ? lost.given : retry.input.input(policy, subjects, next.ledger, at: next.now) else { continue }
                try check.commit(judge(retry.input, given, &next), of: retry)
            } catch let broken as Broken {
                throw violation(broken, after: [first.input, lost.input], in: state, at: index)
            }
        }
    }

    private mutating func isNew(_ state: ExploredState, length: Int) -> Bool {
        let isNew = known.insert(state.digest).inserted
        return length < Self.exactDepth ? known.insert(state.exactDigest).inserted : isNew
    }

    private func violation(_ broken: Broken, after inputs: [ExploredInput], in state: ExploredState, at index: Int) -> Violation {
        var path = inputs
        var index = index
        while let input = origins[index].input {
            path.insert(input, at: 0)
            index = origins[index].parent
        }
        return Violation(policy: policy.name, path: path, seconds: state.now, text: broken.text)
    }

    /// Takes a step, compares its result with the ledger, and updates the state.
    private mutating func judge(
        _ input: ExploredInput, _ given: SignInTransaction.Input, _ state: inout ExploredState
    ) throws -> Decision {
        let before = state.transaction
        let notes = state.ledger
        let now = ExploredPolicy.time(state.now)
        let (expected, written) = state.ledger.note(input, policy, at: state.now)
        let (after, outcome, effects) = before.step(given, now: now)
        // The runner can decide more than once, so a second decision must equal the first one.
        if before.step(given, now: now) != (after, outcome, effects) { throw Broken("a second decision on the same state differs") }
        outcomes[Self.name(expected), default: 0] += 1
        try Self.check(outcome, is: expected)
        let change = TransactionInvariants.Change(from: notes, to: state.ledger)
        try TransactionInvariants.check(effects, outcome, expectedUser: written, change)
        if after != before || notes != state.ledger {
            try TransactionInvariants.check(before, after, outcome, change)
            if !state.ledger.describes(after.challenge) { throw Broken("the challenge differs from the ledger") }
        }
        state.transaction = after
        // No step reads the origin of the last proof.
        state.transaction.origin = nil
        return Decision(next: after, outcome: outcome, effects: effects)
    }

    private static func name(_ expected: SignInLedger.Expectation) -> String {
        switch expected {
        case .authenticated: "authenticated"
        case .factorRequired: "factor required"
        case .enrollmentRequired: "enrollment required"
        case .passwordDue: "password due"
        case .tryAgain: "try again"
        case .unanswered: "ask again"
        case .refused(.invalidGrant): "invalid_grant"
        case .refused(.accessDenied): "access_denied"
        case .refused(.expiredToken): "expired_token"
        case .refused: "refused"
        case .challenged: "challenged"
        case .pending: "pending"
        case .approved(let userVerified): userVerified ? "approved, user verified" : "approved"
        case .denied: "denied"
        case .failed: "failed"
        case .invalid: "invalid"
        case .tooLate: "too late"
        case .cancelled: "cancelled"
        }
    }

    private static func check(_ outcome: SignInTransaction.Outcome, is expected: SignInLedger.Expectation) throws {
        let matches =
            switch (outcome, expected) {
            case (.authenticated(let context), .authenticated(let other)): context == other
            case (.factorRequired(let grants), .factorRequired(let other)): grants == other
            case (.passwordDue(.expired), .passwordDue(let isExpired)): isExpired
            case (.passwordDue(.endsSoon), .passwordDue(let isExpired)): !isExpired
            case (.tryAgain(let refusal), .tryAgain): refusal.code == .invalidGrant
            case (.tryAgain(let refusal), .unanswered(let code)): refusal.code == code
            case (.refused(let refusal), .refused(let code)): refusal.code == code
            case (.enrollmentRequired, .enrollmentRequired): true
            case (.challenged, .challenged), (.pending, .pending), (.cancelled, .cancelled): true
            case (.tooLate(let lateness), .tooLate(let other)): lateness == other
            case (.judged(.approved(let userVerified)), .approved(let other)): userVerified == other
            case (.judged(.denied(let isSuspicious)), .denied(let other)): isSuspicious == other
            case (.judged(.failed), .failed), (.judged(.invalid), .invalid): true
            default: false
            }
        if !matches { throw Broken("\(outcome) instead of \(expected)") }
    }
}
