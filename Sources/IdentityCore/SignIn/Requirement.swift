package import Foundation

extension SignInTransaction {
    /// The next requirement of a sign-in.
    package enum Requirement: Sendable, Equatable {
        /// All requirements are met.
        case satisfied(AuthenticationContext)
        /// A proof of one of these factors.
        case factor([FactorKind])
        /// The enrollment of a second factor.
        case enrollment
        /// The enrollment of further factors.
        case enrollmentOffer(canSkip: Bool)
        /// The user's decision on an offer.
        case setupOffer(SetupOffer)
        /// A new password, or the decision to keep one that expires soon.
        case newPassword(PasswordStanding)
        /// The user cannot meet the requirements.
        case refused(Refusal)

        /// Whether the user must or can enroll a factor.
        package var isEnrollment: Bool {
            switch self {
            case .enrollment, .enrollmentOffer: true
            case .satisfied, .factor, .setupOffer, .newPassword, .refused: false
            }
        }
    }

    /// Returns the next requirement by the proofs, the policy, the client's request and the user's factors.
    package func requirement(for subject: Subject) -> Requirement {
        let decision = subject.decision
        guard decision.assurance != .deny else {
            return .refused(
                Refusal(.accessDenied, "You are not allowed to sign in to this application.", reason: decision.reason))
        }
        if let hinted = authorization?.request.hintedUserID, hinted != subject.user.id { return .refused(.otherPerson) }
        let further = furtherFactors(subject)
        let canAddFactor = !further.isEmpty
        let asked = AuthenticationContextClass.preferred(of: contextClasses)
        let extra = asked?.assurance(hasSecondFactor: canAddFactor) ?? .oneFactor
        let needsTwo = decision.assurance.needsTwoFactors || extra == .twoFactors || subject.demandsTwoFactors
        let passkey = passkeyRequirement(of: subject, asked: asked)
        if let passkey, case .factor = passkey { return passkey }
        if needsTwo && factorClasses.count < 2 {
            if canAddFactor, passkey == nil { return .factor(further) }
            // Enrolling is possible only if the policy, not the client, requires two factors. With proofs of a session, an attacker who
            // finds the session open could add a key.
            let canEnroll = passkey == nil ? subject.canEnroll : subject.canEnrollPasskey && asked != .hardwareProtected
            guard canEnroll, inherited == 0, factorClasses == [.knowledge], decision.assurance.needsTwoFactors else {
                return passkey ?? .refused(.noSecondFactor(decision: decision, demanded: subject.demandsTwoFactors))
            }
            return passwordRequirement(of: subject) ?? .enrollment
        }
        if asked == .password && !proofs.contains(where: { $0.factor == .password }) {
            guard further.contains(.password) else {
                return .refused(
                    Refusal(.unmetAuthenticationRequirements, "A password is required.", reason: "acr_values asks for a password"))
            }
            return .factor([.password])
        }
        if let passkey { return passkey }
        return passwordRequirement(of: subject) ?? setupRequirement(of: subject) ?? offerRequirement(of: subject)
            ?? .satisfied(
                AuthenticationContext(
                    userID: subject.user.id, time: proofs.last?.time ?? createdAt, earliestTime: proofs.map(\.time).min(),
                    methods: methods, contextClass: asked?.rawValue))
    }

    /// Returns what is missing if the policy or the client requires a passkey; `nil` if nothing is.
    private func passkeyRequirement(of subject: Subject, asked: AuthenticationContextClass?) -> Requirement? {
        let isHardware = asked == .hardwareProtected
        guard isHardware || asked == .phishingResistant || subject.decision.assurance == .phishingResistant else { return nil }
        let isProved = proofs.contains { $0.factor == .passkey && (!isHardware || $0.isHardwareProtected == true) }
        guard !isProved else { return nil }
        if !isHardware, mayReplacePasskey(of: subject), hasProvedSavedCode { return passwordRequirement(of: subject) ?? .enrollment }
        let passkeys = subject.enrollments.usable.compactMap(\.passkey)
        let canProve = passkeys.contains { !isHardware || $0.isHardwareProtected } && subject.secondFactors.contains(.passkey)
        guard !canProve || proofs.contains(where: { $0.factor == .passkey }) else {
            let acceptsCode = !isHardware && mayReplacePasskey(of: subject) && subject.secondFactors.contains(.savedCode)
            return .factor(acceptsCode ? [.passkey, .savedCode] : [.passkey])
        }
        if subject.decision.assurance == .phishingResistant {
            return .refused(.noPasskey(.accessDenied, reason: subject.decision.reason + "; no usable passkey"))
        }
        return .refused(.noPasskey(.unmetAuthenticationRequirements, reason: "acr_values asks for a passkey; no usable passkey"))
    }

    /// Whether only a passkey meets the policy's or the client's requirements, and the user has not proved one yet.
    func needsPasskey(_ subject: Subject) -> Bool {
        passkeyRequirement(of: subject, asked: AuthenticationContextClass.preferred(of: contextClasses)) != nil
    }

    /// Takes the step after a proof, and ends the sign-in if all requirements are met.
    /// - Parameters:
    ///   - type: The type of the log event.
    ///   - effects: The effects of the proof.
    package func proved(_ subject: Subject, _ type: String, _ effects: [Effect]) -> (SignInTransaction, Outcome, [Effect]) {
        func step(_ outcome: Outcome, reason: String? = nil) -> (SignInTransaction, Outcome, [Effect]) {
            (self, outcome, effects + [.log(type: type, .success, reason: reason ?? subject.decision.reason)])
        }
        switch requirement(for: subject) {
        case .refused(let refusal): return refused(refusal, type, effects)
        case .factor(let kinds): return step(.factorRequired(kinds))
        case .enrollment: return step(.enrollmentRequired)
        case .enrollmentOffer(let canSkip): return step(.enrollmentOffered(canSkip: canSkip), reason: "there are factors to set up")
        case .setupOffer(let offer): return step(.setupOffered(offer), reason: "there is an offer: \(offer.rawValue)")
        case .newPassword(let standing): return step(.passwordDue(standing), reason: "the password is due")
        case .satisfied(let context):
            var (next, outcome, effects) = step(.authenticated(context), reason: subject.decision.reason + explanation(of: context))
            next.end = .authenticated
            return (next, outcome, effects)
        }
    }

    /// Returns why the proofs met a policy or request about passkeys, for the system log; empty if neither is concerned.
    private func explanation(of context: AuthenticationContext) -> String {
        var parts: [String] = []
        if let passkey = proofs.last(where: { $0.factor == .passkey }) {
            parts.append("passkey " + (passkey.factorClasses.contains(.inherence) ? "with" : "without") + " user verification")
            if passkey.isHardwareProtected == true { parts.append("bound to its device") }
        }
        if let contextClass = context.contextClass { parts.append("acr \(contextClass)") }
        return parts.isEmpty ? "" : "; " + (parts + ["amr " + context.methods.joined(separator: " ")]).joined(separator: ", ")
    }

    /// Returns the factors that the user can prove next.
    private func furtherFactors(_ subject: Subject) -> [FactorKind] {
        // A session may lack a recent proof of the password. Pages can ask for it again.
        let canTypePassword =
            rules.contains(.asksForPasswordLater) && subject.user.passwordHash != nil && !proofs.contains { $0.factor == .password }
        let password: [FactorKind] = canTypePassword ? [.password] : []
        // A device that could not verify the user for one push cannot do it for the next.
        if proofs.contains(where: { $0.factor == .push }) { return password }
        return password + (factorClasses.contains(.possession) ? subject.verifyingFactors : subject.secondFactors)
    }
}

/// The result of a completed sign-in: the source of `auth_time`, `amr` and `acr`.
package struct AuthenticationContext: Sendable, Equatable, Codable {
    package var userID: String
    /// The time when the last factor was proved.
    package var time: Date
    /// The time when the first factor was proved; `nil` if it equals ``time``. The proofs of a session can be old.
    package var earliestTime: Date?
    /// The methods, in the order of the proofs (Documentation/Protocol/OAuth.md §4.2: `pwd`, `swk`, `mfa`, …).
    package var methods: [String]
    /// The requested authentication context class that was met; `nil` if none was requested.
    package var contextClass: String?

    package init(userID: String, time: Date, earliestTime: Date? = nil, methods: [String], contextClass: String? = nil) {
        self.userID = userID
        self.time = time
        self.earliestTime = earliestTime.flatMap { $0 < time ? $0 : nil }
        self.methods = methods
        self.contextClass = contextClass
    }
}

extension Refusal {
    /// Returns the refusal of a wrong answer. The refusal is the same for a wrong password, an unknown name, and an account that is locked,
    /// closed or without a password.
    static func wrongCredentials(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The credentials provided were invalid.", reason: reason)
    }

    /// The refusal if the client named one user and another user signed in.
    static let otherPerson = Refusal(
        .loginRequired, "Another person than the one that the application named signed in.", reason: "id_token_hint names another user")

    /// Returns the refusal if a passkey is required and none can be used.
    static func noPasskey(_ code: Code, reason: String) -> Refusal {
        Refusal(code, "This sign-in needs a passkey, and none can be used. Set one up and sign in again.", reason: reason)
    }

    /// Returns the refusal if two factors are required and no second factor can be used.
    static func noSecondFactor(decision: SignOnDecision, demanded: Bool) -> Refusal {
        guard decision.assurance.needsTwoFactors || demanded else {
            return Refusal(
                .unmetAuthenticationRequirements, "The requested authentication needs a second factor, and none can be used.",
                reason: "acr_values asks for two factors; no usable second factor")
        }
        return Refusal(
            .accessDenied, "This application needs a second factor, and none can be used. Set one up and sign in again.",
            reason: decision.reason + "; no usable second factor")
    }
}
