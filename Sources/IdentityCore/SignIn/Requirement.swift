package import Foundation

extension SignInTransaction {
    /// What a sign-in still requires of a user.
    package enum Requirement: Sendable, Equatable {
        /// Nothing; the context of the proofs.
        case satisfied(AuthenticationContext)
        /// Another factor, by one of these grants.
        case factor([String])
        /// A second factor, which the user has to set up.
        case enrollment
        /// The setup of further factors, which the user can skip or not.
        case enrollmentOffer(canSkip: Bool)
        /// A new password, or the decision to keep one that ends soon.
        case newPassword(PasswordStanding)
        /// The user can't meet the requirements.
        case refused(Refusal)

        /// Whether the user sets up a factor.
        package var isEnrollment: Bool {
            switch self {
            case .enrollment, .enrollmentOffer: true
            case .satisfied, .factor, .newPassword, .refused: false
            }
        }
    }

    /// Compares the proofs with the requirements of the policy, the client and the user's factors. Changes nothing.
    package func requirement(for subject: Subject) -> Requirement {
        let decision = subject.decision
        guard decision.assurance != .deny else {
            return .refused(
                Refusal(.accessDenied, "You are not allowed to sign in to this application.", reason: decision.reason))
        }
        if let hinted = hosted?.request.hintedUserID, hinted != subject.user.id { return .refused(.otherPerson) }
        let further = furtherGrantTypes(subject)
        let canAddFactor = !further.isEmpty
        let asked = AuthenticationContextClass.preferred(of: contextClasses)
        let extra = asked?.assurance(hasSecondFactor: canAddFactor) ?? .oneFactor
        let needsTwo = decision.assurance == .twoFactors || extra == .twoFactors || subject.demandsTwoFactors
        if needsTwo && factorClasses.count < 2 {
            if canAddFactor { return .factor(further) }
            // Only if the policy requires it, not the client. Only by proofs of this sign-in: an attacker who finds an open session must not
            // add a key.
            guard subject.canEnroll, (hosted?.inherited ?? 0) == 0, factorClasses == [.knowledge], decision.assurance == .twoFactors else {
                return .refused(.noSecondFactor(decision: decision, demanded: subject.demandsTwoFactors))
            }
            return passwordRequirement(of: subject) ?? .enrollment
        }
        if asked == .password && !proofs.contains(where: { $0.factor == .password }) {
            guard further.contains(GrantType.password) else {
                return .refused(
                    Refusal(.unmetAuthenticationRequirements, "A password is required.", reason: "acr_values asks for a password"))
            }
            return .factor([GrantType.password])
        }
        return passwordRequirement(of: subject) ?? offerRequirement(of: subject)
            ?? .satisfied(
                AuthenticationContext(
                    userID: subject.user.id, time: proofs.last?.time ?? createdAt, earliestTime: proofs.map(\.time).min(),
                    methods: methods, contextClass: asked?.rawValue))
    }

    /// Takes the step after a proof: ends the sign-in if nothing more is required. `type` is that of the log event; `effects` are those of the
    /// proof.
    package func proved(_ subject: Subject, _ type: String, _ effects: [Effect]) -> (SignInTransaction, Outcome, [Effect]) {
        func step(_ outcome: Outcome, reason: String? = nil) -> (SignInTransaction, Outcome, [Effect]) {
            (self, outcome, effects + [.log(type: type, .success, reason: reason ?? subject.decision.reason)])
        }
        switch requirement(for: subject) {
        case .refused(let refusal): return refused(refusal, type, effects)
        case .factor(let grants): return step(.factorRequired(grants))
        case .enrollment: return step(.enrollmentRequired)
        case .enrollmentOffer(let canSkip): return step(.enrollmentOffered(canSkip: canSkip), reason: "there are factors to set up")
        case .newPassword(let standing): return step(.passwordDue(standing), reason: "the password is due")
        case .satisfied(let context):
            var (next, outcome, effects) = step(.authenticated(context))
            next.end = .authenticated
            return (next, outcome, effects)
        }
    }

    /// The grants by which the person can prove a factor of another class than they have.
    private func furtherGrantTypes(_ subject: Subject) -> [String] {
        // Of a session, the password may be what is too old; pages can ask for it again.
        let canTypePassword = hosted != nil && subject.user.passwordHash != nil && !proofs.contains { $0.factor == .password }
        let password = canTypePassword ? [GrantType.password] : []
        // A device that could not verify the person for one push will not for the next.
        if proofs.contains(where: { $0.factor == .push }) { return password }
        return password + (factorClasses.contains(.possession) ? subject.verifyingGrantTypes : subject.secondFactorGrantTypes)
    }
}

/// What a finished sign-in proved: the source of `auth_time`, `amr` and `acr`.
package struct AuthenticationContext: Sendable, Equatable, Codable {
    /// The user's id.
    package var userID: String
    /// When the last factor was proved.
    package var time: Date
    /// When the first one was proved, if that was earlier: a session brings what was proved long ago.
    package var earliestTime: Date?
    /// The methods, in the order proved (oauth reference: `pwd`, `swk`, `mfa`, …).
    package var methods: [String]
    /// The class that was asked for and met; nil if none was asked for.
    package var contextClass: String?

    /// Describes a sign-in.
    package init(userID: String, time: Date, earliestTime: Date? = nil, methods: [String], contextClass: String? = nil) {
        self.userID = userID
        self.time = time
        self.earliestTime = earliestTime.flatMap { $0 < time ? $0 : nil }
        self.methods = methods
        self.contextClass = contextClass
    }
}

extension Refusal {
    /// The same refusal for a wrong password, an unknown name, and an account that is locked, closed or without a password.
    static func wrongCredentials(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The credentials provided were invalid.", reason: reason)
    }

    /// The refusal if the client named a user and another user signed in.
    static let otherPerson = Refusal(
        .loginRequired, "Another person than the one that the application named signed in.", reason: "id_token_hint names another user")

    /// The refusal if two factors are required and the user or the client has no second factor.
    static func noSecondFactor(decision: SignOnDecision, demanded: Bool) -> Refusal {
        guard decision.assurance == .twoFactors || demanded else {
            return Refusal(
                .unmetAuthenticationRequirements, "The requested authentication needs a second factor, and none can be used.",
                reason: "acr_values asks for two factors; no usable second factor")
        }
        return Refusal(
            .accessDenied, "This application needs a second factor, and none can be used. Set one up and sign in again.",
            reason: decision.reason + "; no usable second factor")
    }
}
