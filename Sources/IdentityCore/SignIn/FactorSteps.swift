package import Foundation

/// The steps after a factor was verified.
extension SignInTransaction {
    func judged(
        _ proof: Proof, _ verdict: FactorVerdict, _ subject: Subject, type: String, now: Date
    ) -> (SignInTransaction, Outcome, [Effect]) {
        var next = self
        // The user may mistype the name on a page, so the sign-in is bound to a user only after a proof.
        if !rules.contains(.retriesFirstFactor) { next.meet(subject.user) }
        var user = subject.user
        let callers = subject.callers
        let isFurther = !proofs.isEmpty
        // Locked and closed accounts are refused before the verdict is read, so a guess reveals nothing and is not counted.
        guard user.openLock(for: callers, policy: subject.passwordPolicy, now: now) else {
            return next.wrong("account is locked", type, [])
        }
        guard user.status == .active else {
            return next.wrong("account is \(user.status.rawValue)", type, [])
        }
        guard !user.isClosed(proof.factor, to: callers, isFurther: isFurther, policy: subject.passwordPolicy) else {
            return next.wrong("\(proof.factor.rawValue) is closed after \(FailureCounts.most) wrong answers", type, [])
        }
        guard proof.factor != .question || !user.isQuestionClosed(at: now) else {
            return next.wrong("too many wrong answers to the question", type, [])
        }
        guard case .proved(let newHash, var enrollment, _) = verdict else {
            // A signature cannot be guessed, so a wrong one does not count towards a lock of the account.
            if case .rejected(let reason) = verdict { return next.wrong(reason, type, []) }
            let consequence = user.countFailure(
                of: proof.factor, from: callers, isFurther: isFurther, policy: subject.passwordPolicy, now: now)
            let reason =
                user.passwordHash == nil && proof.factor == .password ? "account has no password" : "wrong \(proof.factor.rawValue)"
            var counted: [Effect] = [.writeUser(user)]
            let logged = consequence.log(of: proof.factor)
            guard case .wrong(let enrollment) = verdict else { return next.wrong(reason, type, counted + logged) }
            // Sent codes have their own limit of wrong answers, so a sign-in that begins with one can request another code.
            counted.append(.writeEnrollment(enrollment))
            return next.wrong(reason, type, counted + logged, mayRepeat: consequence == .none)
        }
        user.forgetFailures(of: proof.factor, from: callers)
        user.passwordHash = newHash ?? user.passwordHash
        // A user who needs a recovery code has lost a factor, so both offers are useful again.
        if proof.factor == .savedCode { user.declinedOffers = nil }
        next.meet(subject.user)
        next.origin = subject.origin
        var proof = proof
        proof.enrollmentID = enrollment?.id
        var warnings: [Effect] = []
        if let use = enrollment?.passkeyUse {
            // The flag counts only if the registration had it, or after a password of this sign-in has confirmed it (WebAuthn Level 3 section
            // 7.2 step 24). A password of the session does not: an attacker who finds the session open could set the key's PIN.
            if use.userVerified, proofs.dropFirst(inherited).contains(where: { $0.factor == .password }) {
                enrollment?.passkey?.confirmUserVerification()
            }
            // A passkey that verified the user by a PIN or biometrics proves two factors at once.
            if use.userVerified, enrollment?.passkey?.verifiesUser == true { proof.factorClasses.insert(.inherence) }
            proof.isHardwareProtected = use.isHardwareProtected
            if !use.hasCounterIncreased {
                let reason = "the signature counter did not increase: the passkey may have been copied"
                warnings.append(.log(type: "user.mfa.webauthn.counter", .failure, reason: reason))
            }
            next.passkeyChallenge = nil
        }
        next.proofs.append(proof)
        // The next requirement is that of the state which this step writes.
        var written = subject
        written.user.declinedOffers = user.declinedOffers
        if let enrollment { written.enrollments.update(enrollment) }
        let (after, outcome, logged) = next.proved(written, type, warnings)
        if outcome.isProvedWhole { user.completeSignIn(by: next.proofs, from: subject.origin) }
        let changes: [Effect] = user == subject.user ? [] : [.writeUser(user)]
        return (after, outcome, changes + (enrollment.map { [.writeEnrollment($0)] } ?? []) + logged)
    }

    /// Handles a wrong answer, and every other refusal with the same response. After an earlier proof the user may answer again.
    func wrong(
        _ reason: String, _ type: String, _ effects: [Effect], mayRepeat: Bool = false
    ) -> (SignInTransaction, Outcome, [Effect]) {
        let refusal = Refusal.wrongCredentials(reason)
        // A page asks again, and the account's own counter limits guesses; the typed name does not bind the sign-in.
        if rules.contains(.retriesFirstFactor) && proofs.isEmpty {
            return (self, .tryAgain(refusal), effects + [.log(type: type, .failure, reason: reason)])
        }
        var next = self
        next.wrongAnswers += 1
        guard !proofs.isEmpty || mayRepeat, next.wrongAnswers < Self.mostWrongAnswers else { return next.refused(refusal, type, effects) }
        return (next, .tryAgain(refusal), effects + [.log(type: type, .failure, reason: reason)])
    }
}

extension SignInTransaction.Outcome {
    /// Whether all required factors are proved. An enrollment may still be required.
    var isProvedWhole: Bool {
        switch self {
        case .authenticated, .enrollmentOffered, .setupOffered, .passwordDue: true
        default: false
        }
    }
}

extension SignInTransaction.Subject {
    /// The group of callers for which a wrong answer to this request counts.
    var callers: Callers { user.callers(from: origin) }

    /// Whether wrong answers locked the account for this request.
    package func isLocked(at now: Date) -> Bool { user.isLocked(for: origin, policy: passwordPolicy, now: now) }
}

extension User.Consequence {
    /// Returns the entry for the system log; empty without a consequence.
    func log(of factor: FactorKind) -> [SignInTransaction.Effect] {
        switch self {
        case .none: []
        case .locked(let count): [.log(type: "user.account.lock", .success, reason: "\(count) failed attempts")]
        case .closed:
            [.log(type: "user.account.lock", .success, reason: "\(FailureCounts.most) wrong answers in a row close \(factor.rawValue)")]
        }
    }
}
