/// Which rule of a server's access policies decides about a request, and why the others did not.
///
/// Pure. The first policy that is for the client and has a matching rule decides; rules are tried in order. The org server
/// has no access policies: its lifetimes are fixed (oauth reference 1.1 and 3.5).
package struct AccessPolicyEvaluation: Sendable, Equatable {
    /// What is asked of the policies.
    package struct Question: Sendable {
        package var clientID: String
        package var grantType: String
        /// The groups of the user; nil when the client acts for itself.
        package var groups: [String]?
        package var scopes: [String]

        package init(clientID: String, grantType: String, groups: [String]? = nil, scopes: [String]) {
            self.clientID = clientID
            self.grantType = grantType
            self.groups = groups
            self.scopes = scopes
        }
    }

    /// How long tokens live, as a rule says.
    package struct Lifetimes: Sendable, Equatable {
        /// Seconds.
        package var accessToken: Int
        /// Seconds from the first issue; nil for no limit.
        package var refreshToken: Int?
        /// Seconds without use.
        package var refreshTokenIdle: Int

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
    package let lifetimes: Lifetimes?
    /// What was tried before, in order.
    let misses: [Miss]

    /// Evaluates the policies of a server.
    package init(of server: AuthorizationServerDefinition, for question: Question) {
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
    package var explanation: String {
        if let decidedBy { return decidedBy }
        return misses.isEmpty ? "no access policy" : misses.map(\.description).joined(separator: "; ")
    }

    /// The lifetimes.
    /// - Throws: ``Refusal`` with `access_denied` if no rule matched.
    package func permitted() throws(Refusal) -> Lifetimes {
        guard let lifetimes else {
            throw Refusal(
                .accessDenied, "Policy evaluation failed for this request: no access policy rule allows it.",
                reason: "policy: \(explanation)")
        }
        return lifetimes
    }
}

/// The authentication contexts that a client can ask for by `acr_values` (OpenID Connect Core section 3.1.2.1).
package enum AuthenticationContextClass: String, Sendable, CaseIterable {
    case oneFactor = "urn:okta:loa:1fa:any"
    case password = "urn:okta:loa:1fa:pwd"
    case twoFactors = "urn:okta:loa:2fa:any"
    case twoFactorsIfPossible = "urn:okta:loa:2fa:any:ifpossible"

    /// The first of the values asked for that this server knows; others are ignored.
    static func preferred(of values: [String]) -> AuthenticationContextClass? {
        values.lazy.compactMap(AuthenticationContextClass.init(rawValue:)).first
    }

    /// What it asks for beyond the application's policy.
    ///
    /// - Parameter hasSecondFactor: Whether the person has a second factor that the client can use.
    /// - Returns: One factor or two.
    func assurance(hasSecondFactor: Bool) -> SignOnRule.Assurance {
        switch self {
        case .oneFactor, .password: .oneFactor
        case .twoFactors: .twoFactors
        case .twoFactorsIfPossible: hasSecondFactor ? .twoFactors : .oneFactor
        }
    }
}

extension Engine {
    /// The authentication contexts that can be asked for, the weakest first.
    package static var supportedContextClasses: [String] { AuthenticationContextClass.allCases.map(\.rawValue) }
}

/// What a sign-on policy says of one person, and which rule said it.
package struct SignOnDecision: Sendable, Equatable, Codable {
    /// What is asked for.
    package var assurance: SignOnRule.Assurance
    /// Seconds after which a session must prove itself again.
    package var reauthenticateAfter: Int?
    /// The policy and the rule, or why none matched; for the log.
    package var reason: String
}

extension SignOnPolicy {
    /// The first rule that matches decides; without one, access is refused.
    ///
    /// - Parameter groups: The names of the person's groups.
    /// - Returns: What is asked for, and the rule that asks for it.
    func decide(groups: [String]) -> SignOnDecision {
        for rule in rules where rule.groups.map({ $0.contains(where: groups.contains) }) ?? true {
            return SignOnDecision(
                assurance: rule.assurance, reauthenticateAfter: rule.reauthenticateAfter,
                reason: "sign-on policy “\(name)”, rule “\(rule.name)”: \(rule.assurance.rawValue)")
        }
        return SignOnDecision(assurance: .deny, reason: "sign-on policy “\(name)”: no rule matches the user's groups")
    }
}

extension OrgSnapshot {
    /// What an application asks of a person.
    package func signOnDecision(for user: User, application: Application) -> SignOnDecision {
        guard application.isActive else { return SignOnDecision(assurance: .deny, reason: "application is not active") }
        guard application.assignment.includes(user) else {
            return SignOnDecision(assurance: .deny, reason: "user is not assigned to the application")
        }
        guard let policy = signOnPolicy(named: application.signOnPolicy) else {
            return SignOnDecision(assurance: .deny, reason: "sign-on policy “\(application.signOnPolicy)” does not exist")
        }
        return policy.decide(groups: user.groups)
    }
}
