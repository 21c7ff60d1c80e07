package import Foundation

/// Getting into an account without its password (authn reference 4.2 and 4.9 to 4.12); a part of a ``ClassicSignIn``.
package struct ClassicRecovery: Sendable, Equatable, Codable {
    /// Seconds that a recovery token is good for.
    package static let tokenLifetime: TimeInterval = 3_600
    /// The prefix of activation tokens, by which a mailed link is told from the link of a recovery.
    package static let activationPrefix = "at_"

    /// What for.
    package enum Kind: String, Sendable, Codable {
        case password = "PASSWORD"
        case unlock = "UNLOCK"
        /// Somebody signs in for the first time, by a token that an administrator gave them.
        case activation = "ACCOUNT_ACTIVATION"
    }

    /// What is asked for.
    package enum Stage: String, Sendable, Codable {
        /// The token that was mailed, or given to a back end.
        case token
        /// The code that was sent.
        case code
        /// The answer to the person's question.
        case question
        /// Another password.
        case reset
    }

    package var kind: Kind
    package var stage: Stage
    /// The way that the code took.
    package var channel: CodeChannel?
    /// Where the link of an activation was mailed to: it is good on the pages only, and as long as that is the person's address. Nil for a
    /// token that whoever asked for it brings.
    package var mailedTo: String?

    package init(kind: Kind, stage: Stage, channel: CodeChannel? = nil, mailedTo: String? = nil) {
        self.kind = kind
        self.stage = stage
        self.channel = channel
        self.mailedTo = mailedTo
    }

    /// Whether it was mailed, and so is the pages' only.
    package var isMailed: Bool { mailedTo != nil }
}

/// The steps of a recovery. Nothing is proved by it but that the person may set a password: what else a sign-in asks for is asked after.
extension SignInTransaction {
    private static let recoveryType = "user.account.recovery"

    /// The token or the code was right: the person's question comes next, if they have one.
    func recoveryProved(hasQuestion: Bool, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard let recovery = recovery(of: subject, at: [.token, .code], now: now) else {
            return refused(.overTransaction, Self.recoveryType, [])
        }
        // Who never signed in is not asked: the token came from who runs the organization.
        guard hasQuestion, recovery.kind != .activation else { return recovered(recovery, subject, now: now) }
        var next = self
        next.classic?.recovery?.stage = .question
        return (next, .recovering, [.log(type: Self.recoveryType, .success, reason: "the question is asked")])
    }

    /// The person's question was answered. Wrong answers count as wrong codes do, and lock the account; they also count over all recoveries,
    /// and after too many of them no answer is right, which nobody is told.
    func recoveryAnswered(isRight: Bool, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard let recovery = recovery(of: subject, at: [.question], now: now) else {
            return refused(.overTransaction, Self.recoveryType, [])
        }
        var user = subject.user
        guard !user.isQuestionClosed(at: now) else { return recoveryFailed("too many wrong answers to the question") }
        if isRight { return recovered(recovery, subject, now: now) }
        let consequence = user.countFailure(of: .question, from: subject.callers, policy: subject.passwordPolicy, now: now)
        return recoveryFailed("wrong answer", [.writeUser(user)] + consequence.log(of: .question))
    }

    /// Handles a wrong code. Wrong codes of all recoveries count together, as wrong answers do. They lock nothing, because an attacker who
    /// knows the user name can request codes.
    func recoveryCodeWrong(_ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard recovery(of: subject, at: [.code], now: now) != nil else { return refused(.overTransaction, Self.recoveryType, []) }
        var user = subject.user
        var guessed = user.guessedCodes ?? RecoveryGuesses()
        guessed.add(at: now)
        user.guessedCodes = guessed
        return recoveryFailed("wrong code", [.writeUser(user)])
    }

    /// The code was wrong, or there is nobody whose it could be.
    func recoveryFailed(_ reason: String, _ effects: [Effect] = []) -> (SignInTransaction, Outcome, [Effect]) {
        guard end == nil, classic?.recovery != nil else { return refused(.overTransaction, Self.recoveryType, []) }
        var next = self
        next.wrongAnswers += 1
        let refusal = Refusal.wrongCredentials(reason)
        guard next.wrongAnswers < Self.mostWrongAnswers else { return next.refused(refusal, Self.recoveryType, effects) }
        return (next, .tryAgain(refusal), effects + [.log(type: Self.recoveryType, .failure, reason: reason)])
    }

    /// The person set another password: a sign-in by it goes on.
    func passwordReset(_ hash: String, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard let recovery = recovery(of: subject, at: [.reset], now: now) else {
            return refused(.overTransaction, Self.recoveryType, [])
        }
        var user = subject.user
        user.setStatus(.active, now: now)
        user.activationID = nil
        user.setPasswordHash(hash, remembering: subject.passwordPolicy.age.history, from: subject.origin, now: now)
        // Whoever comes here answered the question, if there is one; wrong codes of devices are remembered.
        user.forgetFailures(of: .question, from: subject.callers)
        user.guessedCodes = nil
        let activated = recovery.kind == .activation ? [Self.activated] : []
        let reset =
            [Effect.writeUser(user)] + activated + [.log(type: "user.account.reset_password", .success, reason: "by the person")]
        var next = self
        next.meet(user)
        if classic?.page != nil {
            // On the pages nobody is signed in by it: the sign-in that the person came from asks for the new password.
            next.end = .recovered
            return (next, .unlocked, reset)
        }
        next.classic?.recovery = nil
        next.wrongAnswers = 0
        next.keepsPassword = true
        next.proofs = [Proof(factor: .password, factorClasses: [.knowledge], methods: ["pwd"], time: now)]
        var changed = subject
        changed.user = user
        return next.proved(changed, "user.authentication.password", reset)
    }

    /// What is left to do once the person may.
    private func recovered(_ recovery: ClassicRecovery, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        var next = self
        switch recovery.kind {
        case .password:
            next.classic?.recovery?.stage = .reset
            return (next, .recovering, [.log(type: Self.recoveryType, .success, reason: "another password can be set")])
        case .unlock:
            var user = subject.user
            user.openLocks()
            user.forgetFailures(of: .question, from: subject.callers)
            user.guessedCodes = nil
            next.end = .recovered
            return (next, .unlocked, [.writeUser(user), .log(type: "user.account.unlock", .success, reason: "by the person")])
        case .activation:
            // One that is only to begin with is not left as it is: others may know it.
            guard subject.user.passwordHash != nil, !subject.user.mustChangePassword else {
                next.classic?.recovery?.stage = .reset
                return (next, .recovering, [.log(type: Self.recoveryType, .success, reason: "the first password can be set")])
            }
            // Their password is left as it is: the token is what they know instead of it, this once.
            var changed = subject
            changed.user.setStatus(.active, now: now)
            changed.user.activationID = nil
            guard changed.user.openLock(for: subject.callers, policy: subject.passwordPolicy, now: now) else {
                return refused(.wrongCredentials("account is locked"), Self.recoveryType, [])
            }
            guard classic?.page == nil else {
                next.end = .recovered
                return (next, .unlocked, [.writeUser(changed.user), Self.activated])
            }
            next.classic?.recovery = nil
            next.proofs = [Proof(factor: .activation, factorClasses: [.knowledge], methods: [], time: now)]
            return next.proved(changed, "user.authentication.activation", [.writeUser(changed.user), Self.activated])
        }
    }

    private static let activated = Effect.log(type: "user.lifecycle.activate", .success, reason: "by the token of an administrator")

    /// The recovery, if it is at one of these stages, of an account that is still the one that it met.
    private func recovery(of subject: Subject, at stages: [ClassicRecovery.Stage], now: Date) -> ClassicRecovery? {
        guard end == nil, now < expiresAt, userID != nil, isAbout(subject.user), let recovery = classic?.recovery,
            stages.contains(recovery.stage), isRecoveryOpen(to: subject.user)
        else { return nil }
        return recovery
    }

    /// Whether an account is in a state in which the recovery that it is can go on; an activation only if it is the last one that was begun
    /// for the person, and they still have the address that it was mailed to.
    package func isRecoveryOpen(to user: User) -> Bool {
        guard let recovery = classic?.recovery, recovery.kind == .activation else { return user.status == .active }
        return user.awaitsActivation && user.activationID == id && (!recovery.isMailed || recovery.mailedTo == user.mailAddress?.text)
    }
}

extension User {
    /// Whether the person can sign in with an activation token: they never could otherwise.
    package var awaitsActivation: Bool { status == .staged || (status == .active && passwordHash == nil) }
}
