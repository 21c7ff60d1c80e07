package import Foundation

/// The steps of a transaction that waits for a person's devices.
extension SignInTransaction {
    private static let pushType = "user.authentication.push"
    /// Seconds in which a device is not asked again: a form came twice, or the person is just reading the question.
    private static let youth: TimeInterval = 10

    /// Whether the person's devices were asked only a moment ago, and can still answer.
    package func isChallengeYoung(at now: Date) -> Bool {
        guard let challenge, challenge.isOpen(at: now) else { return false }
        return now < challenge.createdAt.addingTimeInterval(Self.youth)
    }

    /// A challenge is sent: by somebody who proved something, by somebody who begins with it, or by a client in the back channel.
    func challenged(_ challenge: PushChallenge, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        // A transaction that proved nothing yet begins with this account; one that did goes on with the account that it met.
        guard end == nil, now < expiresAt, isAbout(subject.user), subject.user.status == .active else {
            return refused(.overTransaction, Self.pushType, [])
        }
        // Whoever said no is not asked until they give in; the client is told as if it had polled.
        if isRejectedForGood { return refused(.rejectedOnDevice, Self.pushType, []) }
        guard subject.decision.assurance != .deny else { return refused(denied(by: subject.decision), Self.pushType, []) }
        var next = self
        next.meet(subject.user)
        next.keepReplacedChallenge(now: now)
        next.challenge = challenge
        next.challenge?.expiresAt = min(challenge.expiresAt, expiresAt)
        next.challengeCount += 1
        next.sentChallenges = challengeTimes.suffix(Self.mostChallengeTimes - 1) + [challenge.createdAt]
        let reason = "\(challenge.targets.count) device(s)" + (challenge.numbers == nil ? "" : ", with a number")
        return (next, .challenged, [.log(type: "user.mfa.push.challenge", .success, reason: reason)])
    }

    /// A device answers: the first final answer decides, also for the other devices.
    func answered(_ answer: PushAnswer, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        if let reported = reported(answer, now: now) { return reported }
        guard let challenge, let target = challenge.targets.first(where: { $0.id == answer.targetID }) else {
            return (self, .tooLate(.replaced), [])
        }
        guard end != .cancelled else { return (self, .tooLate(.cancelled), []) }
        guard challenge.state == .pending, end == nil else { return (self, .tooLate(.answered), []) }
        guard now < challenge.expiresAt else { return (self, .tooLate(.expired), []) }
        var next = self
        let verdict = challenge.judge(answer)
        let type = "user.mfa.push.answer"
        let effect: Effect
        switch verdict {
        case .approved(let userVerified):
            let methods = target.methods + (userVerified ? answer.verificationMethods : [])
            next.challenge?.state = .approved(targetID: answer.targetID, userVerified: userVerified, methods: methods, at: now)
            effect = .log(type: type, .success, reason: userVerified ? "approved, user verified" : "approved")
        case .denied(let isSuspicious):
            next.challenge?.state = .denied(targetID: answer.targetID, isSuspicious: isSuspicious, at: now)
            effect = .log(
                type: isSuspicious ? "user.account.report_suspicious_activity" : type, .denied,
                reason: isSuspicious ? "denied: it was not me" : "denied")
        case .failed(let reason):
            next.challenge?.state = .failed(targetID: answer.targetID, reason: reason, at: now)
            effect = .log(type: type, .failure, reason: reason)
        case .invalid(let reason):
            effect = .log(type: type, .failure, reason: "invalid: \(reason)")
        }
        return (next, .judged(verdict), [effect])
    }

    /// Keeps the challenge that is about to be replaced or withdrawn, as long as devices could have answered it.
    mutating func keepReplacedChallenge(now: Date) {
        let open = ((replacedChallenges ?? []) + [challenge].compactMap(\.self)).filter { $0.isOpen(at: now) }.suffix(PushLimits.most)
        replacedChallenges = open.isEmpty ? nil : Array(open)
    }

    /// The challenge that a device was asked, also one that was replaced or withdrawn.
    package func challenge(ofTarget id: String) -> PushChallenge? {
        ([challenge].compactMap(\.self) + (replacedChallenges ?? [])).first { $0.targets.contains { $0.id == id } }
    }

    /// A suspicious report about a challenge that was replaced or withdrawn ends the sign-in: otherwise an attacker could prevent the report
    /// by sending another push.
    ///
    /// - Returns: `nil` for any other answer.
    private func reported(_ answer: PushAnswer, now: Date) -> (SignInTransaction, Outcome, [Effect])? {
        let replaced = replacedChallenges?.first { $0.targets.contains { $0.id == answer.targetID } }
        guard end == nil, now < expiresAt, let replaced, replaced.isOpen(at: now),
            case .denied(isSuspicious: true) = replaced.judge(answer)
        else { return nil }
        var next = self
        next.end = .refused
        let effect = Effect.log(
            type: "user.account.report_suspicious_activity", .denied, reason: "denied: it was not me, of a push that was replaced")
        return (next, .judged(.denied(isSuspicious: true)), [effect])
    }

    /// The client asks for its tokens.
    func polled(_ subject: Subject?, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard end == nil, let challenge else { return refused(.overTransaction, Self.pushType, []) }
        guard now < challenge.expiresAt || (classic != nil && challenge.isRejected) else { return unanswered(.expiredChallenge) }
        switch challenge.state {
        case .pending:
            return (self, .pending, [])
        case .denied, .failed:
            return unanswered(.rejectedOnDevice)
        case .approved(let targetID, let userVerified, let methods, let time):
            guard let subject, isAbout(subject.user), subject.user.status == .active, !subject.isLocked(at: now) else {
                return refused(.overTransaction, Self.pushType, [])
            }
            var next = self
            // Where a sign-in may go on after an approval, that counts once.
            if countedChallenge == challengeCount { return proved(subject, Self.pushType, []) }
            next.countedChallenge = challengeCount
            // It was proved when the device answered: something else may have been proved between then and now.
            let place = proofs.firstIndex { $0.time > time } ?? proofs.endIndex
            next.proofs.insert(
                Proof(
                    factor: .push, factorClasses: userVerified ? [.possession, .inherence] : [.possession], methods: methods, time: time,
                    enrollmentID: challenge.targets.first { $0.id == targetID }?.enrollmentID),
                at: place)
            let (after, outcome, logged) = next.proved(subject, Self.pushType, [])
            var user = subject.user
            user.rememberApproval(of: challenge, isProvedWhole: outcome.isProvedWhole, by: next.proofs)
            return (after, outcome, (user == subject.user ? [] : [.writeUser(user)]) + logged)
        }
    }

    /// A challenge was denied or not answered. That ends the challenge, and the sign-in only if it can't continue with another factor.
    private func unanswered(_ refusal: Refusal) -> (SignInTransaction, Outcome, [Effect]) {
        guard classic != nil || outlivesChallenges && !isRejectedForGood else { return refused(refusal, Self.pushType, []) }
        var next = self
        let isNews = classic?.reportedChallenge != challengeCount
        next.classic?.reportedChallenge = challengeCount
        return (next, .tryAgain(refusal), isNews ? [.log(type: Self.pushType, .denied, reason: refusal.reason)] : [])
    }

    /// Whether the user may present another factor after a challenge that was denied or not answered: at the classic API, and elsewhere once
    /// a first factor was proved.
    private var outlivesChallenges: Bool { classic != nil || (purpose == .signIn && !proofs.isEmpty) }

    /// Whether a denial ends the sign-in, regardless of other proofs. If the sign-in can outlive its challenges, only a denial that the user
    /// reported as suspicious ends it.
    package var isRejectedForGood: Bool {
        guard let challenge, challenge.isRejected else { return false }
        guard outlivesChallenges else { return true }
        if case .denied(_, let isSuspicious, _) = challenge.state { return isSuspicious }
        return false
    }

    /// Whether a challenge of this sign-in can be sent without any proof.
    var isUnproved: Bool { purpose == .signIn && proofs.isEmpty }

    /// The maximum number of times that are kept: more than the limits on unanswered challenges allow.
    private static let mostChallengeTimes = 10

    /// The times when challenges were sent, the most recent last. Records of earlier versions contain only the most recent time.
    var challengeTimes: [Date] { sentChallenges ?? challenge.map { Array(repeating: $0.createdAt, count: challengeCount) } ?? [] }

    /// The number of challenges of these transactions that were sent in the last minutes and not approved.
    static func unansweredChallenges(_ transactions: [SignInTransaction], now: Date) -> Int {
        transactions.reduce(0) { count, transaction in
            let isApproved = transaction.challenge?.approver != nil
            return count
                + transaction.challengeTimes.dropLast(isApproved ? 1 : 0).count { $0.addingTimeInterval(ChallengePlan.lifetime) > now }
        }
    }

    /// The refusal of a user whom the policy denies the application. A caller that proved nothing gets the answer for an unknown user.
    package func denied(by decision: SignOnDecision) -> Refusal {
        guard !proofs.isEmpty else { return ChallengePlan.unusable(decision.reason) }
        return Refusal(.accessDenied, "You are not allowed to sign in to this application.", reason: decision.reason)
    }

    /// The client gives up, so that a later approval signs nobody in.
    func cancelled() -> (SignInTransaction, Outcome, [Effect]) {
        guard end == nil else { return (self, .cancelled, []) }
        var next = self
        next.end = .cancelled
        return (next, .cancelled, [.log(type: "user.authentication.cancel", .success, reason: "by the client")])
    }
}

extension PushChallenge {
    /// Whether somebody said no, or answered in a way that counts as one.
    var isRejected: Bool {
        switch state {
        case .denied, .failed: true
        case .pending, .approved: false
        }
    }
}

extension Refusal {
    package static let rejectedOnDevice = Refusal(
        .accessDenied, "The sign-in was rejected on the device.", reason: "rejected")

    static let expiredChallenge = Refusal(.expiredToken, "Nobody answered in time. Sign in again.", reason: "challenge expired")

    /// The transaction was finished, cancelled, or met an account that changed since.
    package static let overTransaction = Refusal(
        .invalidGrant, "The sign-in is over. Begin again.", reason: "transaction is over, or the account changed")
}
