internal import Foundation
internal import IdentityCore

/// The factors that a user presents on the pages.
extension HostedState {
    /// Returns a step that checks an answer to a factor. `wrong` is the notice after a wrong answer. Before the first proof, a wrong answer
    /// costs the same reads, computation and writes for every typed user name.
    func factor(
        _ response: FactorResponse, as typed: String = "", by verifier: some FactorVerifier, wrong: HostedSignIn.Notice,
        _ reading: Reading<HostedStep.Verdict>
    ) throws -> HostedStep {
        // After a proof, the sign-in belongs to its user, whatever name is typed.
        let login = user?.value.login ?? Engine.possibleName(typed)
        let first =
            try user == nil
            ? FirstFactor(
                login, by: verifier.kind, of: transaction, after: reading.verdict?.factor, view: reading.view,
                snapshot: snapshot,
                context: context, engine: engine) : nil
        let account = (user ?? first?.account.user)?.value
        let count = { @Sendable in
            engine.countFirstAttempt(
                login: login, of: account, from: RequestOrigin(context, application: application, isOnPages: true), snapshot: snapshot,
                context: context)
        }
        // A form that is sent again is counted and not checked.
        if transaction.proofs.contains(where: { $0.factor == verifier.kind }) {
            return attempt(reading, login: login, count: count) { _ in Plan(onward) }
        }
        let check =
            first?.check(response, by: verifier)
            ?? Check(
                response, of: account, enrollments: verifier.kind == .password ? [] : enrollments, policy: snapshot.passwordPolicy,
                by: verifier)
        return attempt(
            reading, login: login, count: count, check: check.map { .factor(try await $0()) },
            needsMore: { verdict in verdict.factor.map { first?.needsMore($0) ?? false } ?? false }
        ) { verdict in
            let verdict = verdict.factor ?? .failed
            if let first {
                let (next, outcome, writes, _) = try first.step(verdict, by: verifier, now: now)
                return try judged(next, outcome, writes, wrong: wrong, login: login)
            }
            let (next, outcome, effects) = transaction.step(
                .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, subject), now: now)
            var writes = try Writes(effects, of: next, user: user)
            // The verdict may be seconds old. Rewriting the user makes a lock or a new password since then cause a conflict.
            if let user, !effects.writesUser { writes += [user.unchanged] }
            return try judged(next, outcome, writes, wrong: wrong, login: login)
        }
    }

    /// Returns the plan of a judged answer. The first proof binds the sign-in to the browser, which gets a new secret.
    func judged(
        _ next: SignInTransaction, _ outcome: SignInTransaction.Outcome, _ writes: Writes, wrong: HostedSignIn.Notice, login: String
    ) throws -> Plan<HostedAnswer> {
        var (next, answer) = (next, onward)
        next.hosted?.login = login
        next.hosted?.notice = nil
        if next.proofs.count > transaction.proofs.count {
            next.hosted?.stopPresenting()
            if !hosted.browser.isProved { answer.cookies.signIn = try engine.bind(&next) }
        }
        if case .tryAgain = outcome { next.hosted?.notice = wrong }
        next.record(outcome)
        return try moving(to: next, writes, answer: answer)
    }

    /// Returns a step that checks a code that was sent.
    func sentCode(_ code: String, _ reading: Reading<HostedStep.Verdict>) throws -> HostedStep {
        guard let channel = hosted.sending, let enrollment = sendable(by: channel) else { return unchanged }
        if let until = enrollment.sentCode?.closedUntil(at: now) { return HostedStep { try note(.tooManyAttempts, until: until) } }
        return try factor(.code(code), by: codeVerifier(channel), wrong: .wrongSentCode, reading)
    }

    func codeVerifier(_ channel: CodeChannel) -> CodeVerifier {
        CodeVerifier(environment: engine.environment, channel: channel, enrollments: enrollments, owner: transaction.id, now: now)
    }
}

extension HostedStep.Verdict {
    /// The verdict of a factor; `nil` for another check.
    var factor: FactorVerdict? { if case .factor(let verdict) = self { verdict } else { nil } }
}
