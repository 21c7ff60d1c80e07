import Foundation

@testable import IdentityCore
@testable import OAuthWire

/// Takes every sequence of inputs up to a depth from a policy's first state, and holds the transaction to the ledger in each.
///
/// Sequences that lead to the same transaction, the same notes and the same time go on as one: what they could come to is the same.
struct SignInExploration {
    /// A state that was reached.
    private struct Node: Hashable {
        var transaction: SignInTransaction
        var ledger: SignInLedger
        var now: Int

        /// Of what differs most; equality is of everything.
        func hash(into hasher: inout Hasher) {
            hasher.combine(ledger)
            hasher.combine(now)
        }
    }

    /// How a state was reached first.
    private struct Reached {
        var parent: Int
        var input: ExploredInput?
        var node: Node
    }

    /// A step that came to something else than it must.
    struct Violation: Error, CustomStringConvertible {
        var policy: String
        var path: [ExploredInput]
        var seconds: Int
        var text: String

        var description: String {
            "\(policy): \(text), at second \(seconds), after:\n" + path.map { "  \($0)" }.joined(separator: "\n")
        }
    }

    let policy: ExploredPolicy
    private(set) var states = 0
    private(set) var steps = 0
    /// How often each outcome was met.
    private(set) var outcomes: [String: Int] = [:]

    init(_ policy: ExploredPolicy) {
        self.policy = policy
    }

    /// Explores.
    ///
    /// - Parameter depth: The most inputs of a sequence.
    /// - Throws: ``Violation``: the shortest sequence that leads to one.
    mutating func run(depth: Int) throws {
        let first = Node(transaction: policy.transaction(), ledger: SignInLedger(), now: 0)
        var all = [Reached(parent: -1, input: nil, node: first)]
        var known: Set<Node> = [first]
        var level = 0..<1
        for length in 1...depth {
            for index in level {
                let node = all[index].node
                for input in ExploredInput.all(policy, node.ledger, at: node.now) {
                    var next = node
                    do {
                        steps += 1
                        guard try take(input, &next) else { continue }
                    } catch let broken as Broken {
                        throw Violation(
                            policy: policy.name, path: Self.path(to: index, in: all) + [input], seconds: node.now, text: broken.text)
                    }
                    // What the last input leads to is judged, and led on from no more; and who began as somebody else would only
                    // do again what Jane does, the names changed.
                    if length < depth, next.ledger.met?.isJane ?? true, known.insert(next).inserted {
                        all.append(Reached(parent: index, input: input, node: next))
                    }
                }
            }
            level = level.upperBound..<all.count
        }
        states = all.count
    }

    private static func path(to index: Int, in all: [Reached]) -> [ExploredInput] {
        var path: [ExploredInput] = []
        var index = index
        while let input = all[index].input {
            path.append(input)
            index = all[index].parent
        }
        return path.reversed()
    }

    /// Takes a step.
    ///
    /// - Returns: Whether it led anywhere else.
    private mutating func take(_ input: ExploredInput, _ node: inout Node) throws -> Bool {
        if case .wait(let until) = input {
            node.now = until
            return true
        }
        guard let given = input.input(policy, node.ledger, at: node.now) else { return false }
        let before = node.transaction
        let notes = node.ledger
        let (expected, written) = node.ledger.note(input, policy, at: node.now)
        let (after, outcome, effects) = before.step(given, now: ExploredPolicy.time(node.now))
        outcomes[Self.name(expected), default: 0] += 1
        try Self.check(outcome, is: expected)
        let isChange = node.ledger.hasNewPassword && !notes.hasNewPassword
        try TransactionInvariants.check(
            effects, outcome, expectedUser: written, usesCode: node.ledger.codes > notes.codes, changesPassword: isChange)
        if after == before && notes == node.ledger { return false }
        try TransactionInvariants.check(before, after, outcome, changesPassword: isChange)
        if !node.ledger.describes(after.challenge) { throw Broken("the challenge tells another story") }
        node.transaction = after
        // No step reads it, so the possible outcomes of the sign-in are the same.
        node.transaction.origin = nil
        return true
    }

    private static func name(_ expected: SignInLedger.Expectation) -> String {
        switch expected {
        case .authenticated: "authenticated"
        case .factorRequired: "factor required"
        case .passwordDue: "password due"
        case .tryAgain: "try again"
        case .unanswered: "ask again"
        case .refused(let code): code.wireName
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
            case (.passwordDue(.expired), .passwordDue): true
            case (.tryAgain(let refusal), .tryAgain): refusal.code == .invalidGrant
            case (.tryAgain(let refusal), .unanswered(let code)): refusal.code == code
            case (.refused(let refusal), .refused(let code)): refusal.code == code
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
