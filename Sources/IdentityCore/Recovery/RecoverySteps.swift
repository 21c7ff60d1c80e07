internal import Foundation
internal import JOSE
package import Store

/// An action of the user in a recovery.
package enum RecoveryInput: Sendable, Redacted {
    /// Enters the code. `nextSecret` replaces the secret of the browser after the correct code; it is `nil` at an API.
    case code(String, nextSecret: String? = nil)
    case resend
    case answer(String)
    case password(String)

    fileprivate var stage: Recovery.Stage {
        switch self {
        case .code, .resend: .code
        case .answer: .question
        case .password: .reset
        }
    }
}

/// The verdict on an answer or a new password.
package enum RecoveryVerdict: Sendable {
    case answer(isRight: Bool)
    case password(NewPassword)
}

/// The decision on one step of a recovery, which an endpoint commits.
package struct RecoveryDecision: Sendable {
    /// The transaction after the step, the outcome, and the effects to write.
    package var step: (SignInTransaction, SignInTransaction.Outcome, [SignInTransaction.Effect])
    /// The writes to commit in addition to the effects.
    package var writes = Writes()
    /// The error response if the outcome permits another try.
    package var wrong = RecoveryRefusal.wrongCode(signal: nil)
}

/// The steps of a recovery with a state token. An endpoint admits an action in its read, runs the check, and commits the decision.
extension Engine {
    /// Checks that the recovery waits for an action and that no limit is exceeded; counts an attempt once per request. Throws
    /// ``RecoveryRefusal``.
    /// - Parameter isCounted: Whether the attempt is counted already; `nil` uses ``RecoveryState/isRepeated``.
    package func admit(_ input: RecoveryInput, _ state: RecoveryState, isCounted: Bool? = nil) throws(RecoveryRefusal) {
        guard state.recovery?.stage == input.stage else { throw .otherStage }
        switch input {
        case .code: break
        case .resend:
            _ = try countMessage(state)
        case .answer, .password: try countAttempt(state, isCounted: isCounted)
        }
    }

    /// Returns the slow check that an action needs; `nil` if it needs none, or if the recovery is at another stage.
    package func check(_ input: RecoveryInput, _ state: RecoveryState) -> Check<RecoveryVerdict>? {
        guard state.recovery?.stage == input.stage else { return nil }
        let (user, policy, origin) = (state.user.value, state.snapshot.passwordPolicy, state.subject.origin)
        switch input {
        case .code, .resend: return nil
        case .answer(let answer):
            let enrollments = state.subject.enrollments.usable
            let verifier = QuestionVerifier(environment: environment, enrollments: enrollments, origin: origin)
            return Check(of: enrollments.filter { $0.factor == .question }) {
                .answer(isRight: try await verifier.verify(.answer(answer), of: user, policy: policy).isProved)
            }
        case .password(let password):
            return newPasswordCheck(password, of: user, from: origin, policy: policy, now: state.context.now)
                .map { .password(try await $0()) }
        }
    }

    /// Decides on an action. Throws ``RecoveryRefusal`` if the action changes nothing.
    package func decide(_ input: RecoveryInput, _ verdict: RecoveryVerdict?, _ state: RecoveryState) throws -> RecoveryDecision {
        switch (input, verdict) {
        case (.code(let code, let nextSecret), _): return try verify(code, nextSecret: nextSecret, state)
        case (.resend, _): return try resend(state)
        case (.answer, .answer(let isRight)?): return try answered(isRight: isRight, state)
        case (.password, .password(.good(let hash))?):
            return RecoveryDecision(
                step: state.transaction.step(.passwordReset(hash: hash, state.subject), now: state.context.now))
        case (.password, .password(.refused(let rules))?): throw RecoveryRefusal.unacceptablePassword(rules)
        case (.answer, _), (.password, _): throw RecoveryRefusal.otherStage
        }
    }

    /// Counts an attempt of the user, once per request. Throws ``RecoveryRefusal/tooManyAttempts(_:reason:)`` over a limit.
    package func countAttempt(_ state: RecoveryState, isCounted: Bool? = nil) throws(RecoveryRefusal) {
        guard !(isCounted ?? state.isRepeated) else { return }
        let attempts = countAttempt(
            login: state.user.value.login, of: state.user.value, from: state.subject.origin, snapshot: state.snapshot,
            context: state.context)
        guard attempts.isAdmitted else {
            throw .tooManyAttempts(attempts, reason: "sign-in attempts for one user name or from one address")
        }
    }

    /// Whether the recovery ignores a code or an answer. Codes are ignored after too many wrong codes of this user. Codes and answers from
    /// an unknown origin are ignored after too many wrong guesses of all users.
    private func isClosed(_ state: RecoveryState, isAnswer: Bool = false) -> Bool {
        let (user, now) = (state.user.value, state.context.now)
        if !isAnswer, user.guessedCodes?.isClosed(at: now) == true { return true }
        return !user.knows(state.subject.origin) && state.budget.isSpent(state.snapshot)
    }

    private func verify(_ passCode: String, nextSecret: String?, _ state: RecoveryState) throws -> RecoveryDecision {
        let (transaction, now) = (state.transaction, state.context.now)
        // If the recovery is closed, the code is compared with a dummy, so that the work is the same.
        let enrollment = isClosed(state) ? nil : state.subject.enrollments.all.telephone(for: state.channel)
        let verifier = CodeVerifier(
            environment: environment, channel: enrollment?.sentCode?.channel ?? state.channel, enrollments: enrollment.map { [$0] } ?? [],
            owner: transaction.id, now: now, occasion: .anybody)
        switch verifier.verify(.code(passCode), of: state.user.value, policy: state.snapshot.passwordPolicy) {
        case .proved(_, let used, _):
            var step = transaction.step(.recoveryProved(hasQuestion: state.question != nil, state.subject), now: now)
            if let nextSecret {
                step.0.recovery?.page?.browser.bind(to: nextSecret)
                step.0.recovery?.page?.acceptedCode = acceptedDigest(of: passCode, for: transaction.id)
            }
            return RecoveryDecision(step: step, writes: Writes(try used?.changes() ?? []))
        case .wrong(let counted):
            let (writes, signal) = try state.budget.counting(state.snapshot, now: now)
            return RecoveryDecision(
                step: transaction.step(.recoveryCodeWrong(state.subject), now: now), writes: Writes([.put(try counted.record())]) + writes,
                wrong: .wrongCode(signal: signal))
        case .failed, .rejected:
            return RecoveryDecision(step: transaction.step(.recoveryFailed("wrong code, or unknown user"), now: now))
        }
    }

    /// The digest by which a recovery on the pages recognizes its code.
    private func acceptedDigest(of code: String, for transactionID: String) -> [UInt8] {
        environment.digest(ofCode: Self.digits(of: code), enrollment: "accepted", owner: transactionID)
    }

    /// Whether a code is the one that a recovery on the pages accepted.
    package func isAccepted(_ code: String, digest: [UInt8], for transactionID: String) -> Bool {
        environment.isDigest(digest, ofCode: Self.digits(of: code), enrollment: "accepted", owner: transactionID)
    }

    private static func digits(of code: String) -> String { String(code.prefix(64).filter { $0 != " " }) }

    /// Returns the changes that count a message of this recovery.
    private func countMessage(_ state: RecoveryState) throws(RecoveryRefusal) -> [Change] {
        do {
            return try messagePacer.count(state.channel, to: state.transaction.id, .anybody, limit: nil, now: state.context.now)
        } catch let refusal as CodeRefusal {
            throw .paced(refusal)
        } catch {
            // Encoding the count cannot fail.
            throw .otherStage
        }
    }

    /// Decides to send the code again. If no code can be sent, the response is the same.
    private func resend(_ state: RecoveryState) throws -> RecoveryDecision {
        var decision = RecoveryDecision(step: (state.transaction, .recovering, []))
        decision.writes += try countMessage(state)
        if !isClosed(state), let enrollment = state.subject.enrollments.all.telephone(for: state.channel) {
            let request = CodeRequest(
                purpose: state.recovery?.kind == .unlock ? .unlock : .recovery, owner: state.transaction.id, channel: state.channel)
            do {
                let prepared = try prepareCode(
                    request, for: enrollment, of: state.user.value, snapshot: state.snapshot, context: state.context)
                decision.writes += prepared.writes
            } catch let refusal as CodeRefusal {
                decision.writes.log(unsent: refusal, to: state.user.value)
            }
        } else {
            // Does the same work for an unknown user name.
            decision.writes += try messagePacer.decoy(
                state.channel, for: state.transaction.id, limit: state.snapshot.rateLimits.messages, now: state.context.now)
            decision.writes.log("user.mfa.code.send", .denied, reason: "\(state.channel.rawValue): nothing that could be reached")
        }
        return decision
    }

    private func answered(isRight: Bool, _ state: RecoveryState) throws -> RecoveryDecision {
        let (transaction, now) = (state.transaction, state.context.now)
        let isClosed = isClosed(state, isAnswer: true)
        var step =
            isClosed
            ? transaction.step(.recoveryFailed("too many wrong codes and answers of all users together"), now: now)
            : transaction.step(.recoveryAnswered(isRight: isRight, state.subject), now: now)
        // After the correct answer, a repetition of the code alone must not continue the recovery.
        if isRight { step.0.recovery?.page?.acceptedCode = nil }
        // A concurrent wrong answer, which may close the question, causes a conflict.
        let condition = isRight && !step.2.writesUser ? [state.user.unchanged] : []
        let isCounted = !isRight && !isClosed && !state.user.value.isQuestionClosed(at: now)
        let (writes, signal) = isCounted ? try state.budget.counting(state.snapshot, now: now) : (Writes(), nil)
        return RecoveryDecision(step: step, writes: writes + condition, wrong: .wrongAnswer(signal: signal))
    }
}

extension RecoveryState {
    /// Decides to exchange the single-use token of the recovery for a state token; the sign-in starts with this exchange. Throws
    /// ``RecoveryRefusal/over(_:)`` if the token is valid on the pages only.
    /// - Parameters:
    ///   - browser: The initial secret and the new secret of the browser on the hosted pages; `nil` at an API.
    ///   - change: Sets the client's options of the sign-in.
    package func exchanged(
        _ kind: TicketKind, _ token: String, for stateToken: String, browser: (start: String, bound: String)? = nil,
        _ change: (inout SignInTransaction) -> Void = { _ in }
    ) throws(RecoveryRefusal) -> RecoveryDecision {
        // A recovery from a page, and an activation by mail, continue on pages only, where they do not sign the user in.
        guard browser != nil || (recovery?.page == nil && recovery?.isMailed != true) else { throw .over("\(kind.rawValue): of a page") }
        var begun = transaction
        // The sign-in starts now, so a sign-out everywhere before this request does not cancel it.
        begun.meet(user.value)
        change(&begun)
        // Set before the step, because a recovery on a page does not end in a session token.
        begun.recovery?.page = browser.map { RecoveryPage(in: $0.start, bound: $0.bound, continuing: recovery?.page) }
        var step = begun.step(.recoveryProved(hasQuestion: question != nil, subject), now: context.now)
        step.0.createdAt = context.now
        step.0.expiresAt = context.now.addingTimeInterval(SignInTransaction.idleLifetime)
        let changes: [Change] = [
            .take(kind, digest: TicketDigest(of: token), now: context.now, gave: []), .issue(step.0.classicTicket(stateToken)),
        ]
        return RecoveryDecision(step: step, writes: Writes(changes), wrong: .over(kind.rawValue))
    }
}

extension [Enrollment] {
    /// Returns the phone enrollment to which a recovery sends its code; `nil` for none.
    func telephone(for channel: CodeChannel) -> Enrollment? {
        let active = filter { $0.status == .active }
        return active.first { $0.sentCode?.channel == channel } ?? active.first { $0.sentCode?.destination.phoneNumber != nil }
    }
}
