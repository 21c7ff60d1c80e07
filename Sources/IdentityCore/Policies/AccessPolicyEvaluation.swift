/// The access policy rule that decides about a token request, and the reasons why earlier rules did not match. Policies and rules are tried
/// in order; the first matching rule of a policy for this client decides. The org server has no access policies: its lifetimes are fixed
/// (Documentation/Protocol/OAuth.md §1.1 and §3.5).
package struct AccessPolicyEvaluation: Sendable, Equatable {
    /// The properties of a request that policies evaluate.
    package struct Question: Sendable {
        package var clientID: String
        package var grantType: String
        /// The groups of the user; `nil` if the client acts for itself.
        package var groups: [String]?
        package var scopes: [String]

        package init(clientID: String, grantType: String, groups: [String]? = nil, scopes: [String]) {
            (self.clientID, self.grantType, self.groups, self.scopes) = (clientID, grantType, groups, scopes)
        }
    }

    /// The token lifetimes of a rule, in seconds.
    package struct Lifetimes: Sendable, Equatable {
        package var accessToken: Int
        /// The lifetime of refresh tokens from the first issue; `nil` for no limit.
        package var refreshToken: Int?
        /// The time without use after which a refresh token expires.
        package var refreshTokenIdle: Int

        /// The lifetimes of the org server.
        static let ofOrganization = Lifetimes(accessToken: 3600, refreshToken: nil, refreshTokenIdle: 7 * 86400)
    }

    /// A rule or a policy that did not match, with its first failed condition.
    struct Miss: Sendable, Equatable, CustomStringConvertible {
        enum Condition: String, Sendable { case client, grantType, user, scope }
        var policy: String
        /// The rule's name; `nil` if the policy's own condition failed.
        var rule: String?
        var condition: Condition

        var description: String { "\(policy)\(rule.map { "/" + $0 } ?? ""): \(condition.rawValue)" }
    }

    /// The rule that decided, as `policy/rule`; `organization` on the org server; `nil` if none matched.
    let decidedBy: String?
    package let lifetimes: Lifetimes?
    /// The rules and policies that did not match, in the order in which they were tried.
    let misses: [Miss]

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
                // A refresh token never expires before its access token (Documentation/Protocol/OAuth.md §3.5).
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
            // A client that acts for itself has no groups, so it matches only rules without a group condition.
            guard let groups = question.groups, groups.contains(where: wanted.contains) else { return .user }
        }
        if let scopes = rule.scopes, !question.scopes.allSatisfy(scopes.contains) { return .scope }
        return nil
    }

    /// The rule that decided, or the reason for the log why no rule matched.
    package var explanation: String {
        if let decidedBy { return decidedBy }
        return misses.isEmpty ? "no access policy" : misses.map(\.description).joined(separator: "; ")
    }

    /// Returns the lifetimes of the rule that decided. Throws ``Refusal`` with `access_denied` if no rule matched.
    package func permitted() throws(Refusal) -> Lifetimes {
        guard let lifetimes else {
            throw Refusal(
                .accessDenied, "Policy evaluation failed for this request: no access policy rule allows it.",
                reason: "policy: \(explanation)")
        }
        return lifetimes
    }
}

/// The authentication contexts that a client can request by `acr_values` (OpenID Connect Core section 3.1.2.1).
package enum AuthenticationContextClass: String, Sendable, CaseIterable {
    case oneFactor = "urn:okta:loa:1fa:any"
    case password = "urn:okta:loa:1fa:pwd"
    case twoFactors = "urn:okta:loa:2fa:any"
    case twoFactorsIfPossible = "urn:okta:loa:2fa:any:ifpossible"
    /// A passkey.
    case phishingResistant = "phr"
    /// A passkey that cannot leave its device.
    case hardwareProtected = "phrh"

    /// Returns the first requested value that this server supports; ignores all others.
    static func preferred(of values: [String]) -> AuthenticationContextClass? {
        values.lazy.compactMap(AuthenticationContextClass.init(rawValue:)).first
    }

    /// Returns the assurance that the value requires in addition to the application's policy. `hasSecondFactor` says whether the user has a
    /// second factor that the client can use.
    func assurance(hasSecondFactor: Bool) -> SignOnRule.Assurance {
        switch self {
        case .oneFactor, .password, .phishingResistant, .hardwareProtected: .oneFactor
        case .twoFactors: .twoFactors
        case .twoFactorsIfPossible: hasSecondFactor ? .twoFactors : .oneFactor
        }
    }
}

extension Engine {
    /// The authentication contexts that clients can request, the weakest first.
    package static var supportedContextClasses: [String] { AuthenticationContextClass.allCases.map(\.rawValue) }
}

/// The result of a sign-on policy for one user.
package struct SignOnDecision: Sendable, Equatable, Codable {
    package var assurance: SignOnRule.Assurance
    /// Seconds after which the user of a session must authenticate again; `nil` for the session's lifetime.
    package var reauthenticateAfter: Int?
    /// The policy and the rule, or the reason why no rule matched; for the log.
    package var reason: String
}

extension SignOnPolicy {
    /// Returns the decision of the first rule that matches the names of the user's groups; denies access if none matches.
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
    /// Whether an application requires two factors of some of its users.
    package func canRequireTwoFactors(_ application: Application) -> Bool {
        signOnPolicy(named: application.signOnPolicy)?.rules.contains { $0.assurance.needsTwoFactors } ?? false
    }

    /// Returns the assurance that an application requires of a user.
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
