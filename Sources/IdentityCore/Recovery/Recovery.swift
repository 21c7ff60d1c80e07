package import Foundation

/// Password recovery, unlock or activation of an account (Documentation/Protocol/Authn.md §4.2 and §4.9 to §4.12).
package struct Recovery: Sendable, Equatable, Codable {
    /// Seconds for which a recovery token is valid.
    package static let tokenLifetime: TimeInterval = 3_600
    /// The prefix of activation tokens, which distinguishes their mailed links from recovery links.
    package static let activationPrefix = "at_"

    package enum Kind: String, Sendable, Codable {
        case password = "PASSWORD"
        case unlock = "UNLOCK"
        /// The user's first sign-in, with a token from an administrator.
        case activation = "ACCOUNT_ACTIVATION"
    }

    /// The input for which the recovery waits.
    package enum Stage: String, Sendable, Codable {
        /// The token that was mailed, or given to a back end.
        case token
        case code
        /// The answer to the user's security question.
        case question
        /// A new password.
        case reset
    }

    package var kind: Kind
    package var stage: Stage
    /// The channel of the message; `nil` if the server sends none.
    package var channel: CodeChannel?
    /// The address to which an activation link was mailed. The link is valid only on the pages, and only while this is the user's address.
    /// `nil` for other recovery tokens.
    package var mailedTo: String?
    /// The state of a recovery on the hosted pages; `nil` at an API.
    package var page: RecoveryPage?

    package init(kind: Kind, stage: Stage, channel: CodeChannel? = nil, mailedTo: String? = nil) {
        (self.kind, self.stage, self.channel, self.mailedTo) = (kind, stage, channel, mailedTo)
    }

    /// Whether the token is part of a mailed activation link, so that it is valid only on the pages.
    package var isMailed: Bool { mailedTo != nil }
}

/// The steps of a recovery. A recovery only permits a new password; the sign-in still requires all other factors.
extension SignInTransaction {
    private static let recoveryType = "user.account.recovery"

    /// Handles a correct token or code: asks the user's security question, if any.
    func recoveryProved(hasQuestion: Bool, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard let recovery = recovery(of: subject, at: [.token, .code], now: now) else {
            return refused(.overTransaction, Self.recoveryType, [])
        }
        // An activation skips the question, because the token comes from an administrator.
        guard hasQuestion, recovery.kind != .activation else { return recovered(recovery, subject, now: now) }
        var next = self
        next.recovery?.stage = .question
        return (next, .recovering, [.log(type: Self.recoveryType, .success, reason: "the question is asked")])
    }

    /// Handles the answer to the security question. Wrong answers count towards the lock of the account. They also count over all
    /// recoveries: after too many, every answer is rejected without an explanation.
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

    /// Handles a wrong code. Wrong codes of all recoveries count together, as wrong answers do. They do not lock the account, because any
    /// attacker who knows the user name can request codes.
    func recoveryCodeWrong(_ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard recovery(of: subject, at: [.code], now: now) != nil else { return refused(.overTransaction, Self.recoveryType, []) }
        var user = subject.user
        var guessed = user.guessedCodes ?? RecoveryGuesses()
        guessed.add(at: now)
        user.guessedCodes = guessed
        return recoveryFailed("wrong code", [.writeUser(user)])
    }

    /// Handles a wrong code or answer, or an unknown user. The user may try again until too many answers were wrong.
    func recoveryFailed(_ reason: String, _ effects: [Effect] = []) -> (SignInTransaction, Outcome, [Effect]) {
        guard end == nil, recovery != nil else { return refused(.overTransaction, Self.recoveryType, []) }
        var next = self
        next.wrongAnswers += 1
        let refusal = Refusal.wrongCredentials(reason)
        guard next.wrongAnswers < Self.mostWrongAnswers else { return next.refused(refusal, Self.recoveryType, effects) }
        return (next, .tryAgain(refusal), effects + [.log(type: Self.recoveryType, .failure, reason: reason)])
    }

    /// Sets the user's new password. At an API, the sign-in continues with it; on the pages, the recovery ends.
    func passwordReset(_ hash: String, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard let recovery = recovery(of: subject, at: [.reset], now: now) else {
            return refused(.overTransaction, Self.recoveryType, [])
        }
        var user = subject.user
        user.setStatus(.active, now: now)
        user.activationID = nil
        user.setPasswordHash(hash, remembering: subject.passwordPolicy.age.history, from: subject.origin, now: now)
        // The user has answered the question, if there is one. Wrong codes of other factors stay counted.
        user.forgetFailures(of: .question, from: subject.callers)
        user.guessedCodes = nil
        let activated = recovery.kind == .activation ? [Self.activated] : []
        let reset =
            [Effect.writeUser(user)] + activated + [.log(type: "user.account.reset_password", .success, reason: "by the user")]
        var next = self
        next.meet(user)
        if recovery.page != nil {
            // On the pages, the recovery does not sign the user in: the original sign-in asks for the new password.
            next.end = .recovered
            return (next, .unlocked, reset)
        }
        next.recovery = nil
        next.wrongAnswers = 0
        next.keepsPassword = true
        next.proofs = [Proof(factor: .password, factorClasses: [.knowledge], methods: ["pwd"], time: now)]
        var changed = subject
        changed.user = user
        return next.proved(changed, "user.authentication.password", reset)
    }

    /// Returns the step after all recovery proofs.
    private func recovered(_ recovery: Recovery, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        var next = self
        switch recovery.kind {
        case .password:
            next.recovery?.stage = .reset
            return (next, .recovering, [.log(type: Self.recoveryType, .success, reason: "another password can be set")])
        case .unlock:
            var user = subject.user
            user.openLocks()
            user.forgetFailures(of: .question, from: subject.callers)
            user.guessedCodes = nil
            next.end = .recovered
            return (next, .unlocked, [.writeUser(user), .log(type: "user.account.unlock", .success, reason: "by the user")])
        case .activation:
            // An initial password must be replaced, because others may know it.
            guard subject.user.passwordHash != nil, !subject.user.mustChangePassword else {
                next.recovery?.stage = .reset
                return (next, .recovering, [.log(type: Self.recoveryType, .success, reason: "the first password can be set")])
            }
            // The password stays unchanged: the token replaces it for this sign-in.
            var changed = subject
            changed.user.setStatus(.active, now: now)
            changed.user.activationID = nil
            guard changed.user.openLock(for: subject.callers, policy: subject.passwordPolicy, now: now) else {
                return refused(.wrongCredentials("account is locked"), Self.recoveryType, [])
            }
            guard recovery.page == nil else {
                next.end = .recovered
                return (next, .unlocked, [.writeUser(changed.user), Self.activated])
            }
            next.recovery = nil
            next.proofs = [Proof(factor: .activation, factorClasses: [.knowledge], methods: [], time: now)]
            return next.proved(changed, "user.authentication.activation", [.writeUser(changed.user), Self.activated])
        }
    }

    private static let activated = Effect.log(type: "user.lifecycle.activate", .success, reason: "by the token of an administrator")

    /// Returns the recovery if it is at one of these stages and its account has not changed.
    private func recovery(of subject: Subject, at stages: [Recovery.Stage], now: Date) -> Recovery? {
        guard end == nil, now < expiresAt, userID != nil, isAbout(subject.user), let recovery,
            stages.contains(recovery.stage), isRecoveryOpen(to: subject.user)
        else { return nil }
        return recovery
    }

    /// Whether the state of the account permits the recovery. An activation must be the latest one for the user, and mailed to the user's
    /// current address.
    package func isRecoveryOpen(to user: User) -> Bool {
        guard let recovery, recovery.kind == .activation else { return user.status == .active }
        return user.awaitsActivation && user.activationID == id && (!recovery.isMailed || recovery.mailedTo == user.mailAddress?.text)
    }
}

extension User {
    /// Whether the user can sign in with an activation token, because the account is staged or has no password.
    package var awaitsActivation: Bool { status == .staged || (status == .active && passwordHash == nil) }
}
