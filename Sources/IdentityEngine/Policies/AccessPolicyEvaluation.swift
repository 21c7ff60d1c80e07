/// Which rule of a server's access policies decides about a request, and why the others did not.
///
/// Pure. The first policy that is for the client and has a matching rule decides; rules are tried in order. The org server
/// has no access policies: its lifetimes are fixed (oauth reference 1.1 and 3.5).
struct AccessPolicyEvaluation: Sendable, Equatable {
    /// What is asked of the policies.
    struct Question: Sendable {
        var clientID: String
        var grantType: String
        /// The groups of the user; nil when the client acts for itself.
        var groups: [String]?
        var scopes: [String]
    }

    /// How long tokens live, as a rule says.
    struct Lifetimes: Sendable, Equatable {
        /// Seconds.
        var accessToken: Int
        /// Seconds from the first issue; nil for no limit.
        var refreshToken: Int?
        /// Seconds without use.
        var refreshTokenIdle: Int

        /// What holds on the org server.
        static let ofOrganization = Lifetimes(accessToken: 3600, refreshToken: nil, refreshTokenIdle: 7 * 86400)
    }

    /// A rule, or a whole policy, that did not match: the first of its conditions that failed.
    struct Miss: Sendable, Equatable, CustomStringConvertible {
        enum Condition: String, Sendable { case client, grantType, user, scope }
        var policy: String
        /// Nil when the policy's own condition failed.
        var rule: String?
        var condition: Condition

        var description: String { "\(policy)\(rule.map { "/" + $0 } ?? ""): \(condition.rawValue)" }
    }

    /// The rule that decided, as `policy/rule`; `organization` on the org server; nil if none matched.
    let decidedBy: String?
    /// The lifetimes of that rule.
    let lifetimes: Lifetimes?
    /// What was tried before, in order.
    let misses: [Miss]

    /// Evaluates the policies of a server.
    init(of server: AuthorizationServerDefinition, for question: Question) {
        guard server.id != nil else {
            (decidedBy, lifetimes, misses) = ("organization", .ofOrganization, [])
            return
        }
        var misses: [Miss] = []
        for policy in server.accessPolicies {
            if let clients = policy.clients, !clients.contains(question.clientID) {
                misses.append(Miss(policy: policy.name, rule: nil, condition: .client))
                continue
            }
            for rule in policy.rules {
                if let condition = Self.failedCondition(of: rule, for: question) {
                    misses.append(Miss(policy: policy.name, rule: rule.name, condition: condition))
                    continue
                }
                decidedBy = "\(policy.name)/\(rule.name)"
                // Never shorter than the access token (3.5).
                lifetimes = Lifetimes(
                    accessToken: rule.accessTokenLifetime,
                    refreshToken: rule.refreshTokenLifetime.map { max($0, rule.accessTokenLifetime) },
                    refreshTokenIdle: max(rule.refreshTokenIdleLifetime, rule.accessTokenLifetime))
                self.misses = misses
                return
            }
        }
        (decidedBy, lifetimes, self.misses) = (nil, nil, misses)
    }

    private static func failedCondition(of rule: AccessRule, for question: Question) -> Miss.Condition? {
        if let grantTypes = rule.grantTypes, !grantTypes.contains(question.grantType) { return .grantType }
        if let wanted = rule.groups {
            // A client that acts for itself is in no group, so only a rule without a user condition is for it.
            guard let groups = question.groups, groups.contains(where: wanted.contains) else { return .user }
        }
        if let scopes = rule.scopes, !question.scopes.allSatisfy(scopes.contains) { return .scope }
        return nil
    }

    /// Why no rule matched, for the log: each miss in order.
    var explanation: String {
        if let decidedBy { return decidedBy }
        return misses.isEmpty ? "no access policy" : misses.map(\.description).joined(separator: "; ")
    }

    /// The lifetimes.
    /// - Throws: ``Refusal`` with `access_denied` if no rule matched.
    func permitted() throws(Refusal) -> Lifetimes {
        guard let lifetimes else {
            throw Refusal(
                .accessDenied, "Policy evaluation failed for this request: no access policy rule allows it.",
                reason: "policy: \(explanation)")
        }
        return lifetimes
    }
}
