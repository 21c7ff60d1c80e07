import Testing

@testable import IdentityCore

@Suite("Access policy evaluation")
struct AccessPolicyEvaluationTests {
    private static func server(_ policies: [AccessPolicy]) -> AuthorizationServerDefinition {
        AuthorizationServerDefinition(id: "default", name: "Default", accessPolicies: policies)
    }

    private static let question = AccessPolicyEvaluation.Question(
        clientID: "app", grantType: "password", groups: ["staff"], scopes: ["openid", "read"])

    @Test(
        "The first matching access rule of the first matching policy decides, and the evaluation lists the failed condition of each earlier policy or rule"
    )
    func order() {
        let evaluation = AccessPolicyEvaluation(
            of: Self.server([
                AccessPolicy(name: "others", clients: ["other"], rules: [AccessRule(name: "any", accessTokenLifetime: 300)]),
                AccessPolicy(
                    name: "apps", clients: ["app"],
                    rules: [
                        AccessRule(name: "codes", grantTypes: ["authorization_code"]), AccessRule(name: "admins", groups: ["admins"]),
                        AccessRule(name: "narrow", scopes: ["openid"]),
                        AccessRule(
                            name: "staff", grantTypes: ["password"], groups: ["staff"], scopes: ["openid", "read"],
                            accessTokenLifetime: 900,
                            refreshTokenLifetime: 5000, refreshTokenIdleLifetime: 700),
                        AccessRule(name: "never reached"),
                    ]),
            ]), for: Self.question)
        #expect(evaluation.decidedBy == "apps/staff")
        #expect(evaluation.lifetimes == .init(accessToken: 900, refreshToken: 5000, refreshTokenIdle: 900))
        #expect(
            evaluation.misses.map(\.description) == ["others: client", "apps/codes: grantType", "apps/admins: user", "apps/narrow: scope"])
    }

    @Test(
        "A request that no access rule matches gets access_denied, and the reason names the failed condition",
        arguments: [
            ([], "no access policy"), ([AccessPolicy(name: "p", clients: [], rules: [AccessRule(name: "r")])], "p: client"),
            ([AccessPolicy(name: "p", rules: [])], "no access policy"),
            ([AccessPolicy(name: "p", rules: [AccessRule(name: "r", groups: ["admins"])])], "p/r: user"),
        ])
    func noMatch(policies: [AccessPolicy], explanation: String) {
        let evaluation = AccessPolicyEvaluation(of: Self.server(policies), for: Self.question)
        #expect(evaluation.explanation == explanation)
        do throws(Refusal) {
            _ = try evaluation.permitted()
            Issue.record("a request that no rule allows was permitted")
        } catch {
            #expect(error.code == .accessDenied)
            #expect(error.reason == "policy: \(explanation)")
        }
    }

    @Test("A client that acts without a user matches only access rules without a user condition")
    func clients() {
        var question = Self.question
        question.groups = nil
        let forStaff = Self.server([AccessPolicy(name: "p", rules: [AccessRule(name: "r", groups: ["staff"])])])
        #expect(AccessPolicyEvaluation(of: forStaff, for: question).decidedBy == nil)
        let forAny = Self.server([AccessPolicy(name: "p", rules: [AccessRule(name: "r")])])
        #expect(AccessPolicyEvaluation(of: forAny, for: question).decidedBy == "p/r")
    }

    @Test("The org server needs no access policy, and issues tokens with fixed lifetimes")
    func organization() {
        let evaluation = AccessPolicyEvaluation(of: AuthorizationServerDefinition(id: nil, name: "Organization"), for: Self.question)
        #expect(evaluation.decidedBy == "organization")
        #expect(evaluation.lifetimes == .init(accessToken: 3600, refreshToken: nil, refreshTokenIdle: 604_800))
    }
}
