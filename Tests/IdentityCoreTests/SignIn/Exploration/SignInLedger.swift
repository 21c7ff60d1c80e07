import Foundation

@testable import IdentityCore

/// An independent model of a sign-in. It notes the inputs, and predicts the result of each step from its notes and the policy, without
/// reading the transaction.
struct SignInLedger: Hashable, Sendable {
    /// The final answer of a device.
    enum Decision: Hashable, Sendable {
        case approved(ExploredDevice, userVerified: Bool, at: Int)
        case denied(ExploredDevice, isSuspicious: Bool, at: Int)
        case failed(ExploredDevice, at: Int)
    }

    /// A proof and its time.
    struct Proved: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case password, code
            case push(ExploredDevice, userVerified: Bool)
        }

        var kind: Kind
        var time: Int

        var isPush: Bool { if case .push = kind { true } else { false } }

        var methods: [String] {
            switch kind {
            case .password: ["pwd"]
            case .code: ["otp"]
            case .push(let device, let userVerified): device.methods + (userVerified ? ExploredInput.unlocked : [])
            }
        }
    }

    /// The user that the sign-in is bound to, and the state of the account at that time.
    struct Account: Hashable, Sendable {
        var isBob: Bool
        var account: Int

        /// Whether the account is Jane's initial one.
        var isJane: Bool { !isBob && account == ExploredPerson.jane.account }
    }

    private(set) var met: Account?
    /// The proofs, in order of time.
    private(set) var proved: [Proved] = []
    /// The number of consumed codes.
    private(set) var codes = 0
    /// The number of the challenge whose approval is among the proofs.
    private(set) var countedChallenge = 0
    /// The number of wrong answers.
    private(set) var wrongAnswers = 0
    /// The number of sent challenges.
    private(set) var challenges = 0
    /// The expiry of the last challenge; `nil` if none was sent.
    private(set) var deadline: Int?
    /// The expiry of the challenge before the last one; `nil` if none was replaced, or if it was answered or expired before its
    /// replacement.
    private(set) var replacedDeadline: Int?
    /// The answer to the last challenge; `nil` without an answer.
    private(set) var decision: Decision?
    private(set) var end: SignInTransaction.End?
    /// The number of proofs that came from a session.
    private(set) var inherited = 0
    /// Whether the user set a new password.
    private(set) var hasNewPassword = false
    /// Whether the user kept a password that expires soon.
    private(set) var keepsPassword = false
    /// The number of factors that the user enrolled.
    private(set) var enrollments = 0

    /// Returns the notes on which later results depend. They lack the numbers of challenges and codes, the expiry of an expired challenge,
    /// the details of a denial or of a counted approval, and repeated proofs.
    func essential(now: Int) -> SignInLedger {
        var notes = self
        let isCounted = countedChallenge == challenges
        (notes.codes, notes.enrollments, notes.challenges, notes.countedChallenge) = (0, 0, min(challenges, 1), isCounted ? 1 : 0)
        notes.proved = proved.ends(after: inherited) { $0.kind == $1.kind }
        notes.deadline = deadline.map { max($0, now) }
        notes.replacedDeadline = replacedDeadline.flatMap { $0 > now ? $0 : nil }
        switch decision {
        case .denied(_, let isSuspicious, _): notes.decision = .denied(.first, isSuspicious: isSuspicious, at: 0)
        case .failed: notes.decision = .failed(.first, at: 0)
        case .approved where isCounted: notes.decision = .approved(.first, userVerified: false, at: 0)
        case .approved, nil: break
        }
        return notes
    }

    /// The expected result of a step.
    enum Expectation: Equatable, Sendable {
        case authenticated(AuthenticationContext)
        case factorRequired([FactorKind])
        case enrollmentRequired
        case passwordDue(isExpired: Bool)
        case tryAgain
        /// A challenge was denied or expired, and another factor can follow.
        case unanswered(Refusal.Code)
        case refused(Refusal.Code)
        case challenged
        case pending
        case approved(userVerified: Bool)
        case denied(isSuspicious: Bool)
        case failed
        case invalid
        case tooLate(PushChallenge.Lateness)
        case cancelled
    }

    /// Notes an input. Returns the expected result, and the user that the step must write; `nil` for none.
    mutating func note(_ input: ExploredInput, _ policy: ExploredPolicy, at now: Int) -> (Expectation, User?) {
        let (expectation, written) = expect(input, policy, at: now)
        switch expectation {
        case .authenticated: end = end ?? .authenticated
        case .refused: end = end ?? .refused
        case .cancelled: end = end ?? .cancelled
        default: break
        }
        return (expectation, written)
    }

    private mutating func expect(_ input: ExploredInput, _ policy: ExploredPolicy, at now: Int) -> (Expectation, User?) {
        switch input {
        case .password(let password, let person):
            let newHash = password == .rightWithOldHash ? "new hash" : nil
            return prove(password != .wrong, newHash: newHash, isCode: false, of: person, policy, at: now)
        case .passwordOfNobody: return (end == nil && now < policy.lifetime ? wrong(policy) : .refused(.invalidGrant), nil)
        case .session(let session, let person): return (resume(session, person, policy, at: now), nil)
        case .code(let isRight, let person): return prove(isRight, isCode: true, of: person, policy, at: now)
        case .challenge(let person): return (challenge(person, policy, at: now), nil)
        case .answer(let answer): return (take(answer, policy, at: now), nil)
        case .poll(let person):
            let counted = countedChallenge
            let result = poll(person, policy, at: now)
            // An approval on a device reopens an app that wrong codes closed.
            guard let person, person.hasClosedApp, countedChallenge != counted, isWhole(result) else { return (result, nil) }
            return (result, person.userAfterApproval())
        case .newPassword(let person): return change(person, policy, at: now)
        case .keepPassword(let person):
            guard isOpen(to: person, policy, at: now), weigh(person, policy) == .passwordDue(isExpired: false) else {
                return (.refused(.invalidGrant), nil)
            }
            keepsPassword = true
            return (weigh(person, policy), nil)
        case .stray(.enrollment):
            guard isOpen(to: .jane, policy, at: now), weigh(.jane, policy) == .enrollmentRequired else {
                return (.refused(.invalidGrant), nil)
            }
            proved.append(Proved(kind: .code, time: now))
            enrollments += 1
            return (weigh(.jane, policy), nil)
        // The sign-in is no recovery, so the steps of a recovery are refused.
        case .stray: return (.refused(.invalidGrant), nil)
        case .cancel, .wait: return (.cancelled, nil)
        }
    }

    /// Whether the transaction is still open to this user, with the current state of the account.
    private func isOpen(to person: ExploredPerson, _ policy: ExploredPolicy, at now: Int) -> Bool {
        end == nil && now < policy.lifetime && (met == nil || met == Account(isBob: person.isBob, account: person.account))
    }

    /// Whether another factor may follow a challenge that was denied or not answered. In the classic API it always may; in the other
    /// modules only after a proof.
    private func mayChooseAgain(_ policy: ExploredPolicy) -> Bool {
        policy.isClassic || (policy.purpose == .signIn && !proved.isEmpty)
    }

    /// Whether a denial ends the sign-in: if no other factor may follow, or if the user reported it as suspicious.
    private func isRefusedForGood(_ policy: ExploredPolicy) -> Bool {
        switch decision {
        case .denied(_, let isSuspicious, _): isSuspicious || !mayChooseAgain(policy)
        case .failed: !mayChooseAgain(policy)
        case .approved, nil: false
        }
    }

    /// Whether all required factors are proved.
    private func isWhole(_ result: Expectation) -> Bool {
        switch result {
        case .authenticated, .passwordDue: true
        default: false
        }
    }

    // MARK: - Steps

    /// Notes a password or a code, and returns the expected result.
    private mutating func prove(
        _ isRight: Bool, newHash: String? = nil, isCode: Bool, of person: ExploredPerson, _ policy: ExploredPolicy, at now: Int
    ) -> (Expectation, User?) {
        guard isOpen(to: person, policy, at: now) else { return (.refused(.invalidGrant), nil) }
        // A denial on a device ends the sign-in, regardless of other proofs.
        if isRefusedForGood(policy) { return (.refused(.accessDenied), nil) }
        // On a page the user may mistype the name, so a sign-in there is bound to a user only after a proof.
        if !policy.isHosted { met = Account(isBob: person.isBob, account: person.account) }
        guard person.isActive, !person.isLocked else { return (wrong(policy), nil) }
        if isCode, person.hasClosedApp { return (wrong(policy), nil) }
        let isFurther = !proved.isEmpty
        guard isRight else { return (wrong(policy), person.userAfterWrong(isCode: isCode, isFurther: isFurther, at: now)) }
        met = Account(isBob: person.isBob, account: person.account)
        proved.append(Proved(kind: isCode ? .code : .password, time: now))
        codes += isCode ? 1 : 0
        let result = weigh(person, policy)
        var user = person.userAfterProof(newHash: newHash, isCode: isCode)
        // A possession factor other than the app reopens the app.
        if person.hasClosedApp, isWhole(result), proved.contains(where: \.isPush) {
            (user.failedCodes, user.failedFurther) = (nil, nil)
        }
        return (result, user == person.user ? nil : user)
    }

    /// Notes a wrong answer, and returns the expected result. A wrong first factor ends the sign-in, except on a page. After a proof, the
    /// fifth wrong answer ends it.
    private mutating func wrong(_ policy: ExploredPolicy) -> Expectation {
        if policy.isHosted && proved.isEmpty { return .tryAgain }
        wrongAnswers += 1
        return proved.isEmpty || wrongAnswers == 5 ? .refused(.invalidGrant) : .tryAgain
    }

    /// Notes that the sign-in starts with the proofs of a session, and returns the expected result.
    private mutating func resume(
        _ session: ExploredInput.Session, _ person: ExploredPerson, _ policy: ExploredPolicy, at now: Int
    ) -> Expectation {
        guard isOpen(to: person, policy, at: now), person.isActive, proved.isEmpty, challenges == 0 else { return .refused(.invalidGrant) }
        let before = self
        met = Account(isBob: person.isBob, account: person.account)
        proved = session.proved
        // An enrollment requires proofs of this sign-in, so the proofs of the session are ignored.
        if weigh(person, policy) == .enrollmentRequired {
            self = before
            return .enrollmentRequired
        }
        inherited = proved.count
        return weigh(person, policy)
    }

    /// Notes a new password, and returns the expected result. A new password requires that all factors are proved, and that the typed
    /// password is due.
    private mutating func change(_ person: ExploredPerson, _ policy: ExploredPolicy, at now: Int) -> (Expectation, User?) {
        guard isOpen(to: person, policy, at: now), person.isActive, !person.isLocked, case .passwordDue = weigh(person, policy) else {
            return (.refused(.invalidGrant), nil)
        }
        met = Account(isBob: person.isBob, account: -1)
        hasNewPassword = true
        // The change of the password ends earlier sessions, so the proofs of the session are removed.
        proved.removeFirst(inherited)
        inherited = 0
        return (weigh(person, policy), person.userAfterChange(at: now))
    }

    private mutating func challenge(_ person: ExploredPerson, _ policy: ExploredPolicy, at now: Int) -> Expectation {
        guard isOpen(to: person, policy, at: now), person.isActive else { return .refused(.invalidGrant) }
        // After a final denial, no further challenge is sent.
        if isRefusedForGood(policy) { return .refused(.accessDenied) }
        if person == .janeUnassigned || policy.assurance == .deny { return .refused(.accessDenied) }
        met = Account(isBob: person.isBob, account: person.account)
        challenges += 1
        replacedDeadline = decision == nil ? deadline.flatMap { now < $0 ? $0 : nil } : nil
        deadline = min(now + ExploredPolicy.challengeLifetime, policy.lifetime)
        decision = nil
        return .challenged
    }

    private mutating func take(_ answer: ExploredInput.Answer, _ policy: ExploredPolicy, at now: Int) -> Expectation {
        // A report of a replaced challenge as suspicious ends the sign-in.
        if case .replaced = answer.target, answer.consent == .denied, answer.isSuspicious, end == nil, now < policy.lifetime,
            let replacedDeadline, now < replacedDeadline
        {
            end = .refused
            return .denied(isSuspicious: true)
        }
        guard case .current(let device) = answer.target, let deadline else { return .tooLate(.replaced) }
        if end == .cancelled { return .tooLate(.cancelled) }
        if decision != nil || end != nil { return .tooLate(.answered) }
        if now >= deadline { return .tooLate(.expired) }
        let verification = policy.verification[device.rawValue]
        switch AnswerTable.result(answer.consent, answer.key, verification) {
        case .invalid: return .invalid
        case .denied:
            decision = .denied(device, isSuspicious: answer.isSuspicious, at: now)
            return .denied(isSuspicious: answer.isSuspicious)
        case .failed:
            decision = .failed(device, at: now)
            return .failed
        case .approved(let userVerified):
            if policy.hasNumbers && answer.number == .none { return .invalid }
            if policy.hasNumbers && answer.number == .wrong {
                decision = .failed(device, at: now)
                return .failed
            }
            decision = .approved(device, userVerified: userVerified, at: now)
            return .approved(userVerified: userVerified)
        }
    }

    private mutating func poll(_ person: ExploredPerson?, _ policy: ExploredPolicy, at now: Int) -> Expectation {
        guard end == nil, let deadline else { return .refused(.invalidGrant) }
        if policy.isClassic {
            switch decision {
            case .denied, .failed: return .unanswered(.accessDenied)
            case .approved, nil: if now >= deadline { return .unanswered(.expiredToken) }
            }
        }
        func unanswered(_ code: Refusal.Code) -> Expectation {
            mayChooseAgain(policy) && !isRefusedForGood(policy) ? .unanswered(code) : .refused(code)
        }
        guard now < deadline else { return unanswered(.expiredToken) }
        switch decision {
        case nil: return .pending
        case .denied, .failed: return unanswered(.accessDenied)
        case .approved(let device, let userVerified, let time):
            guard let person, isOpen(to: person, policy, at: now), person.isActive, !person.isLocked else {
                return .refused(.invalidGrant)
            }
            // An approval counts once, with the time of the answer.
            if countedChallenge != challenges {
                let place = proved.firstIndex { $0.time > time } ?? proved.endIndex
                proved.insert(Proved(kind: .push(device, userVerified: userVerified), time: time), at: place)
                countedChallenge = challenges
            }
            return weigh(person, policy)
        }
    }

    // MARK: - Challenge

    /// Whether the stored challenge has the answer and the expiry of the notes.
    func describes(_ challenge: PushChallenge?) -> Bool {
        guard let challenge, let deadline else { return challenge == nil && self.deadline == nil }
        guard challenge.expiresAt == ExploredPolicy.time(deadline) else { return false }
        func was(_ device: ExploredDevice, _ seconds: Int, _ id: String, _ time: Date) -> Bool {
            id == device.target(of: challenges) && time == ExploredPolicy.time(seconds)
        }
        switch (challenge.state, decision) {
        case (.pending, nil): return true
        case (.approved(let id, let userVerified, let methods, let time), .approved(let device, let verified, let seconds)):
            let proved = device.methods + (verified ? ExploredInput.unlocked : [])
            return was(device, seconds, id, time) && userVerified == verified && methods == proved
        case (.denied(let id, let isSuspicious, let time), .denied(let device, let suspicious, let seconds)):
            return was(device, seconds, id, time) && isSuspicious == suspicious
        case (.failed(let id, _, let time), .failed(let device, let seconds)): return was(device, seconds, id, time)
        default: return false
        }
    }

    // MARK: - Requirements

    /// Returns the expected result after a proof.
    private func weigh(_ person: ExploredPerson, _ policy: ExploredPolicy) -> Expectation {
        if person == .janeUnassigned || policy.assurance == .deny { return .refused(.accessDenied) }
        // Two factors are proofs of two of the classes knowledge, possession and inherence.
        let hasPassword = proved.contains { $0.kind == .password }
        let hasCode = proved.contains { $0.kind == .code }
        let hasPush = proved.contains { $0.isPush }
        let isVerified = proved.contains { if case .push(_, true) = $0.kind { true } else { false } }
        let kinds = (hasPassword ? 1 : 0) + (hasCode || hasPush ? 1 : 0) + (isVerified ? 1 : 0)
        // After a code, only a device with user verification adds a class. After a push, no factor adds a class.
        var further = policy.canAddFactor && !hasPush ? [FactorKind.push] : []
        if !hasCode && !further.isEmpty { further.append(.totp) }
        if hasCode && !policy.canVerifyUser { further = [] }
        // Pages can ask for the password after other proofs.
        let canTypePassword = policy.isHosted && !hasPassword
        if canTypePassword { further.insert(.password, at: 0) }
        let canGoOn = !further.isEmpty
        let asked = policy.contextClass.flatMap { $0.hasPrefix("urn:okta:loa:") ? $0 : nil }
        let isTwoWanted = asked == "urn:okta:loa:2fa:any:ifpossible" && canGoOn
        if kinds < 2 && (policy.asksForTwo || isTwoWanted) {
            if canGoOn { return .factorRequired(further) }
            // If the user has no second factor, the password of this sign-in permits the enrollment of one.
            if policy.canEnroll, kinds == 1, hasPassword, inherited == 0 { return passwordDue(person, policy) ?? .enrollmentRequired }
            let isOnlyAskedByClient = policy.assurance != .twoFactors && !policy.demandsTwoFactors
            return .refused(isOnlyAskedByClient ? .unmetAuthenticationRequirements : .accessDenied)
        }
        if asked == "urn:okta:loa:1fa:pwd" && !hasPassword {
            return canTypePassword ? .factorRequired([.password]) : .refused(.unmetAuthenticationRequirements)
        }
        if let due = passwordDue(person, policy) { return due }
        var methods: [String] = []
        for method in proved.flatMap(\.methods) where !methods.contains(method) { methods.append(method) }
        if kinds > 1 { methods.append("mfa") }
        return .authenticated(
            AuthenticationContext(
                userID: person.user.id, time: ExploredPolicy.time(proved.map(\.time).max() ?? -1),
                earliestTime: proved.map(\.time).min().map(ExploredPolicy.time), methods: methods, contextClass: asked))
    }

    /// Returns the expected result for a typed password that has expired or expires soon; `nil` for any other password.
    private func passwordDue(_ person: ExploredPerson, _ policy: ExploredPolicy) -> Expectation? {
        let isTyped = proved.dropFirst(inherited).contains { $0.kind == .password }
        guard isTyped, person.hasOldPassword, !hasNewPassword else { return nil }
        if policy.passwordsEnd { return policy.changesPassword ? .passwordDue(isExpired: true) : .refused(.invalidGrant) }
        return policy.warnsOfPassword && !keepsPassword ? .passwordDue(isExpired: false) : nil
    }
}
