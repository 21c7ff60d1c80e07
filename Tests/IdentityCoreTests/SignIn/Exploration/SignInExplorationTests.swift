import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import SignInPages

@Suite("Sign-in exploration")
struct SignInExplorationTests {
    @Test("The sign-in exploration uses the same rules as the token endpoint, the hosted pages and the classic API")
    func doors() {
        let application = Application(id: "app", name: "App", kind: .native, signOnPolicy: "any")
        #expect(ExploredPolicy.Door.direct.rules == SignInRequest(application: application, server: nil, scopes: []).rules)
        #expect(ExploredPolicy.Door.pages.rules == .pages)
        #expect(ExploredPolicy.Door.classic.rules == .classic)
    }

    /// Five inputs are enough for a password, a challenge, an answer, a poll, and one unexpected input. `make explore` explores longer
    /// sequences with optimized code, and checks more commits.
    @Test(
        "Every sequence of at most five inputs to a sign-in has the results that the independent model predicts",
        arguments: ExploredPolicy.all)
    func explore(_ policy: ExploredPolicy) throws {
        var exploration = SignInExploration(policy, commitDepth: 2)
        try exploration.run(depth: 5)
        // An exploration that reaches few states would find nothing.
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
        #expect(exploration.retries >= (isOpen ? 300 : 15), "\(exploration.retries) retries")
        // Pages can ask for the password after other factors.
        let asksForMore =
            isOpen && (policy.canAddFactor || policy.isHosted)
            && (policy.asksForTwo || policy.contextClass?.hasSuffix("ifpossible") == true
                || (policy.isHosted && policy.contextClass?.hasSuffix("pwd") == true))
        // In the other modules, a factor can follow a denied push only if the password is not enough, or is due.
        let isDue = isOpen && policy.changesPassword && (policy.passwordsEnd || policy.warnsOfPassword)
        let goesOn = policy.purpose == .signIn && (asksForMore || isDue)
        #expect((exploration.outcomes["ask again"] != nil) == (policy.isClassic || goesOn))
        #expect((exploration.outcomes["factor required"] != nil) == asksForMore)
        #expect((exploration.outcomes["password due"] != nil) == isDue)
        #expect((exploration.outcomes["enrollment required"] != nil) == policy.canEnroll)
    }
}
