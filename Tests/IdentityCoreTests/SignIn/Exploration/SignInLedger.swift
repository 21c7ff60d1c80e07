import Foundation

@testable import IdentityCore

/// What really happened, as a witness would write it down: who came, what they proved when, what they were asked and answered.
///
/// It knows nothing of the transaction. From its notes and the policy alone it says what each step must come to; the
/// exploration holds the transaction to that.
struct SignInLedger: Hashable, Sendable {
    /// What a device answered, finally.
    enum Decision: Hashable, Sendable {
        case approved(ExploredDevice, userVerified: Bool, at: Int)
        case denied(ExploredDevice, isSuspicious: Bool, at: Int)
        case failed(ExploredDevice, at: Int)
    }

    /// Something that was proved, and when.
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

    /// Bob or Jane, and the state of the account, once they proved or were asked something.
    struct Account: Hashable, Sendable {
        var isBob: Bool
        var account: Int

        /// Jane's as it was at first.
        var isJane: Bool { !isBob && account == ExploredPerson.jane.account }
    }

    private(set) var met: Account?
    /// What was proved, in that order.
    private(set) var proved: [Proved] = []
    /// How many codes were used up.
    private(set) var codes = 0
    /// Which challenge's approval is among them.
    private(set) var countedChallenge = 0
    /// How many answers were wrong.
    private(set) var wrongAnswers = 0
    /// How many challenges were sent.
    private(set) var challenges = 0
    /// Until when the last one can be answered.
    private(set) var deadline: Int?
    /// Until when the one before it could have been answered; `nil` if it was answered, or over when it was replaced.
    private(set) var replacedDeadline: Int?
    /// What was answered to it.
    private(set) var decision: Decision?
    private(set) var end: SignInTransaction.End?
    /// How much of what was proved a session brought.
    private(set) var inherited = 0
    /// Whether the person set a new password.
    private(set) var hasNewPassword = false

    /// What a step must come to.
    enum Expectation: Equatable, Sendable {
        case authenticated(AuthenticationContext)
        case factorRequired([FactorKind])
        case passwordDue
        case tryAgain
        /// A question to the devices came to nothing, and may be asked again.
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

    /// Writes down what happened.
    ///
    /// - Returns: What it must come to, and how the user must be written, if at all.
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
        // Nobody is warned here, so nobody is asked whether they keep it.
        case .keepPassword: return (.refused(.invalidGrant), nil)
        // There is no recovery, and nothing to be set up: whoever acts as if there were is refused.
        case .stray: return (.refused(.invalidGrant), nil)
        case .cancel, .wait: return (.cancelled, nil)
        }
    }

    /// Whether the transaction is still good for this person, as the store holds them now.
    private func isOpen(to person: ExploredPerson, _ policy: ExploredPolicy, at now: Int) -> Bool {
        end == nil && now < policy.lifetime && (met == nil || met == Account(isBob: person.isBob, account: person.account))
    }

    /// Whether another factor may follow a challenge that was denied or not answered: at the classic API, and elsewhere once something was
    /// proved.
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

    /// Something was typed.
    private mutating func prove(
        _ isRight: Bool, newHash: String? = nil, isCode: Bool, of person: ExploredPerson, _ policy: ExploredPolicy, at now: Int
    ) -> (Expectation, User?) {
        guard isOpen(to: person, policy, at: now) else { return (.refused(.invalidGrant), nil) }
        // Somebody said no on a device: nothing that is typed outweighs that.
        if isRefusedForGood(policy) { return (.refused(.accessDenied), nil) }
        // A page may have got a mistyped name: only who proves something is met there.
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
        // Another possession factor reopens the app too.
        if person.hasClosedApp, isWhole(result), proved.contains(where: \.isPush) {
            (user.failedCodes, user.failedFurther) = (nil, nil)
        }
        return (result, user == person.user ? nil : user)
    }

    /// A wrong answer ends a sign-in in which nothing was proved, unless a page asks again; in others, the fifth does.
    private mutating func wrong(_ policy: ExploredPolicy) -> Expectation {
        if policy.isHosted && proved.isEmpty { return .tryAgain }
        wrongAnswers += 1
        return proved.isEmpty || wrongAnswers == 5 ? .refused(.invalidGrant) : .tryAgain
    }

    /// Somebody comes with a session: at the beginning, and with what it proves for the account as it is.
    private mutating func resume(
        _ session: ExploredInput.Session, _ person: ExploredPerson, _ policy: ExploredPolicy, at now: Int
    ) -> Expectation {
        guard isOpen(to: person, policy, at: now), person.isActive, proved.isEmpty, challenges == 0 else { return .refused(.invalidGrant) }
        met = Account(isBob: person.isBob, account: person.account)
        proved = session.proved
        inherited = proved.count
        return weigh(person, policy)
    }

    /// A new password: only in place of an old one that was typed, when all else is proved.
    private mutating func change(_ person: ExploredPerson, _ policy: ExploredPolicy, at now: Int) -> (Expectation, User?) {
        guard isOpen(to: person, policy, at: now), person.isActive, !person.isLocked, weigh(person, policy) == .passwordDue else {
            return (.refused(.invalidGrant), nil)
        }
        met = Account(isBob: person.isBob, account: -1)
        hasNewPassword = true
        // The session of before is over, and what it vouched for with it.
        proved.removeFirst(inherited)
        inherited = 0
        return (weigh(person, policy), person.userAfterChange(at: now))
    }

    private mutating func challenge(_ person: ExploredPerson, _ policy: ExploredPolicy, at now: Int) -> Expectation {
        guard isOpen(to: person, policy, at: now), person.isActive else { return .refused(.invalidGrant) }
        // Who said no, or failed to say yes, is not asked again and again.
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
        // Who says of a question that it was not theirs, says it of the sign-in, whatever was asked since.
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
            // An approval counts once, from when it was given.
            if countedChallenge != challenges {
                let place = proved.firstIndex { $0.time > time } ?? proved.endIndex
                proved.insert(Proved(kind: .push(device, userVerified: userVerified), time: time), at: place)
                countedChallenge = challenges
            }
            return weigh(person, policy)
        }
    }

    // MARK: - What is kept

    /// Whether a challenge says of itself what was decided, and until when it could be.
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

    // MARK: - What it is worth

    /// Whether what was proved is what was asked for.
    private func weigh(_ person: ExploredPerson, _ policy: ExploredPolicy) -> Expectation {
        if person == .janeUnassigned || policy.assurance == .deny { return .refused(.accessDenied) }
        // Something known, something had, something that the person is: what is proved of different kinds is two factors.
        let hasPassword = proved.contains { $0.kind == .password }
        let hasCode = proved.contains { $0.kind == .code }
        let hasPush = proved.contains { $0.isPush }
        let isVerified = proved.contains { if case .push(_, true) = $0.kind { true } else { false } }
        let kinds = (hasPassword ? 1 : 0) + (hasCode || hasPush ? 1 : 0) + (isVerified ? 1 : 0)
        // After a code only a device that knows its person adds anything; after a device, nothing does.
        var further = policy.canAddFactor && !hasPush ? [FactorKind.push] : []
        if !hasCode && !further.isEmpty { further.append(.totp) }
        if hasCode && !policy.canVerifyUser { further = [] }
        // On a page the password can be asked for at any time.
        let canTypePassword = policy.isHosted && !hasPassword
        if canTypePassword { further.insert(.password, at: 0) }
        let canGoOn = !further.isEmpty
        let asked = policy.contextClass.flatMap { $0.hasPrefix("urn:okta:loa:") ? $0 : nil }
        let isTwoWanted = asked == "urn:okta:loa:2fa:any:ifpossible" && canGoOn
        if kinds < 2 && (policy.asksForTwo || isTwoWanted) {
            if canGoOn { return .factorRequired(further) }
            let isOnlyAskedByClient = policy.assurance != .twoFactors && !policy.demandsTwoFactors
            return .refused(isOnlyAskedByClient ? .unmetAuthenticationRequirements : .accessDenied)
        }
        if asked == "urn:okta:loa:1fa:pwd" && !hasPassword {
            return canTypePassword ? .factorRequired([.password]) : .refused(.unmetAuthenticationRequirements)
        }
        let isTyped = proved.dropFirst(inherited).contains { $0.kind == .password }
        if policy.passwordsEnd, isTyped, person.hasOldPassword, !hasNewPassword {
            return policy.isHosted ? .passwordDue : .refused(.invalidGrant)
        }
        var methods: [String] = []
        for method in proved.flatMap(\.methods) where !methods.contains(method) { methods.append(method) }
        if kinds > 1 { methods.append("mfa") }
        return .authenticated(
            AuthenticationContext(
                userID: person.user.id, time: ExploredPolicy.time(proved.map(\.time).max() ?? -1),
                earliestTime: proved.map(\.time).min().map(ExploredPolicy.time), methods: methods, contextClass: asked))
    }
}
