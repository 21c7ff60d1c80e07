import Foundation
import Testing

@testable import IdentityCore

/// One policy at a time: each exploration keeps all its states in memory.
@Suite("Every way through a sign-in", .serialized)
struct SignInExplorationTests {
    /// The inputs of a sequence: a password, a challenge, an answer and a poll, and one that does not belong there. `make test-long` explores
    /// longer sequences.
    private static let depth = ProcessInfo.processInfo.environment["COUNTERSIGN_EXPLORATION_DEPTH"].flatMap(Int.init) ?? 5

    @Test("gives what was asked for to who proved it, and nothing to anybody else", arguments: ExploredPolicy.all)
    func explore(_ policy: ExploredPolicy) throws {
        var exploration = SignInExploration(policy)
        try exploration.run(depth: Self.depth)
        // An exploration that got nowhere would have found nothing.
        let isOpen = policy.assurance != .deny
        #expect(exploration.states >= (isOpen ? 900 : 15), "\(exploration.states) states")
        #expect(exploration.steps >= (isOpen ? 33_000 : 500), "\(exploration.steps) steps")
        let expected: Set<String> =
            isOpen
            ? [
                "access_denied", "approved", "approved, user verified", "authenticated", "cancelled", "challenged", "denied",
                policy.isClassic ? "ask again" : "expired_token", "failed", "invalid", "invalid_grant", "pending", "too late",
            ] : ["access_denied", "cancelled", "invalid_grant", "too late"]
        #expect(expected.subtracting(exploration.outcomes.keys).isEmpty, "\(exploration.outcomes)")
        // On pages the password may be what is missing, whatever else there is.
        let asksForMore =
            isOpen && (policy.canAddFactor || policy.isHosted)
            && (policy.asksForTwo || policy.contextClass?.hasSuffix("ifpossible") == true
                || (policy.isHosted && policy.contextClass?.hasSuffix("pwd") == true))
        // Other than the classic API: policies where a password is not enough or is due, and another factor can follow a denied push.
        let isDue = isOpen && policy.isHosted && policy.passwordsEnd
        let goesOn = policy.purpose == .signIn && (asksForMore || isDue)
        #expect((exploration.outcomes["ask again"] != nil) == (policy.isClassic || goesOn))
        #expect((exploration.outcomes["factor required"] != nil) == asksForMore)
        #expect((exploration.outcomes["password due"] != nil) == (policy.passwordsEnd && policy.isHosted))
    }
}
