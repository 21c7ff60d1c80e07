import Foundation

@testable import IdentityEngine

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

    /// A right password or a right code, and when.
    struct Typed: Hashable, Sendable {
        var isCode: Bool
        var time: Int
    }

    /// Bob or Jane, and the state of the account, once they proved or were asked something.
    struct Account: Hashable, Sendable {
        var isBob: Bool
        var account: Int

        /// Jane's as it was at first.
        var isJane: Bool { !isBob && account == ExploredPerson.jane.account }
    }

    private(set) var met: Account?
    /// What was typed and right, in that order.
    private(set) var typed: [Typed] = []
    /// How many codes were used up.
    var codes: Int { typed.count { $0.isCode } }
    /// How many answers were wrong.
    private(set) var wrongAnswers = 0
    /// How many challenges were sent.
    private(set) var challenges = 0
    /// Until when the last one can be answered.
    private(set) var deadline: Int?
    /// What was answered to it.
    private(set) var decision: Decision?
    private(set) var end: SignInTransaction.End?

    /// What a step must come to.
    enum Expectation: Equatable, Sendable {
        case authenticated(AuthenticationContext)
        case factorRequired([String])
        case tryAgain
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
        case .passwordOfNobody: return (end == nil && now < policy.lifetime ? wrong() : .refused(.invalidGrant), nil)
        case .code(let isRight, let person): return prove(isRight, isCode: true, of: person, policy, at: now)
        case .challenge(let person): return (challenge(person, policy, at: now), nil)
        case .answer(let answer): return (take(answer, policy, at: now), nil)
        case .poll(let person): return (poll(person, policy, at: now), nil)
        case .cancel, .wait: return (.cancelled, nil)
        }
    }

    /// Whether the transaction is still good for this person, as the store holds them now.
    private func isOpen(to person: ExploredPerson, _ policy: ExploredPolicy, at now: Int) -> Bool {
        end == nil && now < policy.lifetime && (met == nil || met == Account(isBob: person.isBob, account: person.account))
    }

    // MARK: - Steps

    /// Something was typed.
    private mutating func prove(
        _ isRight: Bool, newHash: String? = nil, isCode: Bool, of person: ExploredPerson, _ policy: ExploredPolicy, at now: Int
    ) -> (Expectation, User?) {
        guard isOpen(to: person, policy, at: now) else { return (.refused(.invalidGrant), nil) }
        // Somebody said no on a device: nothing that is typed outweighs that.
        switch decision {
        case .denied, .failed: return (.refused(.accessDenied), nil)
        case .approved, nil: break
        }
        met = Account(isBob: person.isBob, account: person.account)
        guard person.isActive, !person.isLocked else { return (wrong(), nil) }
        guard isRight else { return (wrong(), person.userAfterWrong(isCode: isCode, at: now)) }
        typed.append(Typed(isCode: isCode, time: now))
        let result = weigh(person, push: nil, policy)
        let user = person.userAfterProof(newHash: newHash, isCode: isCode)
        return (result, user == person.user ? nil : user)
    }

    /// A wrong answer ends a sign-in in which nothing was proved; in others, the fifth does.
    private mutating func wrong() -> Expectation {
        wrongAnswers += 1
        return typed.isEmpty || wrongAnswers == 5 ? .refused(.invalidGrant) : .tryAgain
    }

    private mutating func challenge(_ person: ExploredPerson, _ policy: ExploredPolicy, at now: Int) -> Expectation {
        guard isOpen(to: person, policy, at: now), person.isActive else { return .refused(.invalidGrant) }
        // Who said no, or failed to say yes, is not asked again and again.
        switch decision {
        case .denied, .failed: return .refused(.accessDenied)
        case .approved, nil: break
        }
        if person == .janeUnassigned || policy.assurance == .deny { return .refused(.accessDenied) }
        met = Account(isBob: person.isBob, account: person.account)
        challenges += 1
        deadline = min(now + ExploredPolicy.challengeLifetime, policy.lifetime)
        decision = nil
        return .challenged
    }

    private mutating func take(_ answer: ExploredInput.Answer, _ policy: ExploredPolicy, at now: Int) -> Expectation {
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

    private func poll(_ person: ExploredPerson?, _ policy: ExploredPolicy, at now: Int) -> Expectation {
        guard end == nil, let deadline else { return .refused(.invalidGrant) }
        guard now < deadline else { return .refused(.expiredToken) }
        switch decision {
        case nil: return .pending
        case .denied, .failed: return .refused(.accessDenied)
        case .approved:
            guard let person, isOpen(to: person, policy, at: now), person.isActive, !person.isLocked else {
                return .refused(.invalidGrant)
            }
            return weigh(person, push: decision, policy)
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
    private func weigh(_ person: ExploredPerson, push: Decision?, _ policy: ExploredPolicy) -> Expectation {
        if person == .janeUnassigned || policy.assurance == .deny { return .refused(.accessDenied) }
        var proofs = typed.map { (time: $0.time, methods: [$0.isCode ? "otp" : "pwd"]) }
        // Something known, something had, something that the person is: what is proved of different kinds is two factors.
        let hasPassword = typed.contains { !$0.isCode }
        let hasCode = typed.contains { $0.isCode }
        var kinds = (hasPassword ? 1 : 0) + (hasCode || push != nil ? 1 : 0)
        if case .approved(let device, let userVerified, let time) = push {
            if userVerified { kinds += 1 }
            let place = proofs.firstIndex { $0.time > time } ?? proofs.endIndex
            proofs.insert((time, device.methods + (userVerified ? ExploredInput.unlocked : [])), at: place)
        }
        // After a code only a device that knows its person adds anything; after a device, nothing does.
        var further = policy.canAddFactor && push == nil ? [ExploredPolicy.pushGrant] : []
        if !hasCode && !further.isEmpty { further.append(ExploredPolicy.codeGrant) }
        if hasCode && !policy.canVerifyUser { further = [] }
        let canGoOn = !further.isEmpty
        let asked = policy.contextClass.flatMap { $0.hasPrefix("urn:okta:loa:") ? $0 : nil }
        let isTwoWanted = asked == "urn:okta:loa:2fa:any:ifpossible" && canGoOn
        if kinds < 2 && (policy.asksForTwo || isTwoWanted) {
            if canGoOn { return .factorRequired(further) }
            let isOnlyAskedByClient = policy.assurance != .twoFactors && !policy.demandsTwoFactors
            return .refused(isOnlyAskedByClient ? .unmetAuthenticationRequirements : .accessDenied)
        }
        if asked == "urn:okta:loa:1fa:pwd" && !hasPassword { return .refused(.unmetAuthenticationRequirements) }
        var methods: [String] = []
        for method in proofs.flatMap(\.methods) where !methods.contains(method) { methods.append(method) }
        if kinds > 1 { methods.append("mfa") }
        return .authenticated(
            AuthenticationContext(
                userID: person.user.id, time: ExploredPolicy.time(proofs.map(\.time).max() ?? -1), methods: methods, contextClass: asked))
    }
}
