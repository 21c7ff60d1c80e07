package import Foundation

/// The steps of push challenges in a sign-in.
extension SignInTransaction {
    private static let pushType = "user.authentication.push"
    /// Seconds after a challenge in which no further challenge is sent. A form can be sent twice, and the user needs time to read.
    private static let youth: TimeInterval = 10

    /// Whether the last challenge is open and was sent only a few seconds ago.
    package func isChallengeYoung(at now: Date) -> Bool {
        guard let challenge, challenge.isOpen(at: now) else { return false }
        return now < challenge.createdAt.addingTimeInterval(Self.youth)
    }

    /// Records a challenge that is about to be sent: after a proof, as the first factor, or for a back-channel request.
    func challenged(_ challenge: PushChallenge, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        // Without a proof, the sign-in is bound to this account now. With one, the account must be the same.
        guard end == nil, now < expiresAt, isAbout(subject.user), subject.user.status == .active else {
            return refused(.overTransaction, Self.pushType, [])
        }
        // After a denial no further challenge is sent. The client gets the same response as to a poll.
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

    /// Handles a device's answer. The first final answer decides, also for the other devices.
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

    /// Keeps an open challenge that is about to be replaced or withdrawn, because a device can still report it as suspicious.
    mutating func keepReplacedChallenge(now: Date) {
        let open = ((replacedChallenges ?? []) + [challenge].compactMap(\.self)).filter { $0.isOpen(at: now) }.suffix(PushLimits.most)
        replacedChallenges = open.isEmpty ? nil : Array(open)
    }

    /// Returns the challenge of a target, including replaced and withdrawn challenges; `nil` for an unknown target.
    package func challenge(ofTarget id: String) -> PushChallenge? {
        ([challenge].compactMap(\.self) + (replacedChallenges ?? [])).first { $0.targets.contains { $0.id == id } }
    }

    /// Ends the sign-in if a device reports a replaced or withdrawn challenge as suspicious. Otherwise an attacker could prevent the report
    /// by sending another push. Returns `nil` for any other answer.
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

    /// Handles a poll of the client.
    func polled(_ subject: Subject?, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard end == nil, let challenge else { return refused(.overTransaction, Self.pushType, []) }
        guard now < challenge.expiresAt || (rules.contains(.outlivesChallenges) && challenge.isRejected) else {
            return unanswered(.expiredChallenge)
        }
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
            // If the sign-in continues after an approval, the approval counts only once.
            if countedChallenge == challengeCount { return proved(subject, Self.pushType, []) }
            next.countedChallenge = challengeCount
            // Proofs are ordered by time. Another factor may have been proved since the device answered.
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

    /// Handles a denied, failed or expired challenge. The sign-in ends only if it cannot continue with another factor.
    private func unanswered(_ refusal: Refusal) -> (SignInTransaction, Outcome, [Effect]) {
        guard rules.contains(.outlivesChallenges) || outlivesChallenges && !isRejectedForGood else {
            return refused(refusal, Self.pushType, [])
        }
        var next = self
        let isNews = !rules.contains(.outlivesChallenges) || reportedChallenge != challengeCount
        if rules.contains(.outlivesChallenges) { next.reportedChallenge = challengeCount }
        return (next, .tryAgain(refusal), isNews ? [.log(type: Self.pushType, .denied, reason: refusal.reason)] : [])
    }

    /// Whether the user may present another factor after a failed challenge: with the rule ``DoorRules/outlivesChallenges``, or in an
    /// ordinary sign-in after a first factor.
    private var outlivesChallenges: Bool { rules.contains(.outlivesChallenges) || (purpose == .signIn && !proofs.isEmpty) }

    /// Whether a denial ended the sign-in. If the user may present another factor, only a report of suspicious activity ends it.
    package var isRejectedForGood: Bool {
        guard let challenge, challenge.isRejected else { return false }
        guard outlivesChallenges else { return true }
        if case .denied(_, let isSuspicious, _) = challenge.state { return isSuspicious }
        return false
    }

    /// Whether a challenge would be sent before any proof.
    var isUnproved: Bool { purpose == .signIn && proofs.isEmpty }

    /// The maximum number of times that are kept: more than the limits on unanswered challenges allow.
    private static let mostChallengeTimes = 10

    /// The times when challenges were sent, the most recent last. Records of earlier versions contain only the most recent time, which is
    /// repeated.
    var challengeTimes: [Date] { sentChallenges ?? challenge.map { Array(repeating: $0.createdAt, count: challengeCount) } ?? [] }

    /// Returns the number of challenges that these sign-ins sent within the last ``ChallengePlan/lifetime`` and that were not approved.
    static func unansweredChallenges(_ transactions: [SignInTransaction], now: Date) -> Int {
        transactions.reduce(0) { count, transaction in
            let isApproved = transaction.challenge?.approver != nil
            return count
                + transaction.challengeTimes.dropLast(isApproved ? 1 : 0).count { $0.addingTimeInterval(ChallengePlan.lifetime) > now }
        }
    }

    /// Returns the refusal for a policy that denies access. Before any proof, it equals the refusal for a user who cannot receive a push.
    package func denied(by decision: SignOnDecision) -> Refusal {
        guard !proofs.isEmpty else { return ChallengePlan.unusable(decision.reason) }
        return Refusal(.accessDenied, "You are not allowed to sign in to this application.", reason: decision.reason)
    }

    /// Cancels the sign-in for the client. A later approval has no effect.
    func cancelled() -> (SignInTransaction, Outcome, [Effect]) {
        guard end == nil else { return (self, .cancelled, []) }
        var next = self
        next.end = .cancelled
        return (next, .cancelled, [.log(type: "user.authentication.cancel", .success, reason: "by the client")])
    }
}

extension PushChallenge {
    /// Whether a device denied the challenge, or its answer failed the check.
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

    static let expiredChallenge = Refusal(
        .expiredToken, "The request was not answered in time. Sign in again.", reason: "challenge expired")

    /// The refusal if the sign-in has ended or expired, or the account has changed since.
    package static let overTransaction = Refusal(
        .invalidGrant, "The sign-in has ended. Sign in again.", reason: "transaction has ended, or the account changed")
}
