/// What a sign-on policy says of one person, and which rule said it.
struct SignOnDecision: Sendable, Equatable, Codable {
    /// What is asked for.
    var assurance: SignOnRule.Assurance
    /// Seconds after which a session must prove itself again.
    var reauthenticateAfter: Int?
    /// The policy and the rule, or why none matched; for the log.
    var reason: String
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
    func signOnDecision(for user: User, application: Application) -> SignOnDecision {
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
