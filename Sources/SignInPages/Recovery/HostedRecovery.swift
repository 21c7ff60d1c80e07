internal import Foundation
package import IdentityCore
internal import JOSE
internal import Store

/// The steps of a recovery on the pages: the code, the user's question, a new password.
extension Engine {
    /// Returns the page that shows the current state of a recovery.
    package func recoveryPage(_ token: String, browser: BrowserSecrets, context: RequestContext) async throws -> HostedAnswer {
        try await transact(context) { [self] reading in
            guard token.utf8.count <= 64,
                case (let stored, let ticket)? = try reading.view.transaction(.stateToken, secret: token, now: context.now),
                let page = stored.value.recovery?.page, let recovery = stored.value.recovery
            else { return HostedAnswer(.refused(HostedRefusal(.over))) }
            guard let secret = page.browser.secret(of: browser) else {
                return HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
            }
            let snapshot = try reading.snapshot
            func shown(_ content: HostedPage.Content) -> HostedAnswer {
                HostedAnswer(
                    .page(
                        HostedPage(
                            content: content, notice: page.notice(at: context.now).map(HostedPage.Notice.init),
                            applicationName: snapshot.organization.name,
                            formToken: FormToken.make(browser: secret, transaction: Self.form(of: token)), returnURI: snapshot.origin,
                            locales: page.locales)))
            }
            if stored.value.end == .recovered {
                if case .expired = ticket { return HostedAnswer(.refused(HostedRefusal(.over))) }
                let signIn = try page.signInToken(of: stored.value.id, environment: environment)
                return shown(.recovered(recovery.kind.page, signIn: signIn))
            }
            do {
                let state = try RecoveryState(token, browser: secret, reading, context: context)
                switch recovery.stage {
                case .code: return shown(.recoveryCode(state.channel))
                case .question:
                    guard let question = state.question else { return HostedAnswer(.refused(HostedRefusal(.over))) }
                    return shown(.recoveryQuestion(key: question.key, text: question.text))
                case .reset:
                    return shown(
                        .recoveryPassword(
                            recovery.kind.page, login: state.user.value.login, rules: snapshot.passwordPolicy.rules,
                            violated: page.violatedRules ?? []))
                case .token: return HostedAnswer(.refused(HostedRefusal(.over)))
                }
            } catch is RecoveryRefusal {
                return HostedAnswer(.refused(HostedRefusal(.over)))
            }
        } decide: {
            Plan($0)
        }
    }

    /// Takes a step of a recovery. Returns the redirect to the page that shows the result, and the messages to send.
    package func recoveryStep(
        _ action: RecoveryAction, of token: String, formToken: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        var answer = HostedAnswer(.recovery(.page(token: token)))
        let refused = HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
        guard let page = try await page(ofRecovery: token, context: context) else { return refused }
        let own = page.browser.secret(of: browser)
        guard let secret = own, FormToken.isRight(formToken, browser: secret, transaction: Self.form(of: token)) else {
            // A form of a page from before the correct code.
            guard let start = page.browser.startSecret(of: browser),
                FormToken.isRight(formToken, browser: start, transaction: Self.form(of: token))
            else { return refused }
            return own == nil ? try await repeatCode(action, of: token, context: context) : answer
        }
        var next: String?
        let input: RecoveryInput
        switch action {
        case .code(let code):
            if !page.browser.isProved { next = try environment.random.secret() }
            input = .code(code, nextSecret: next)
        case .resend: input = .resend
        case .answer(let answer): input = .answer(answer)
        case .password(let new, let repeated):
            // Compared like stored passwords: keyboards compose accents differently.
            guard new.precomposedStringWithCanonicalMapping == repeated.precomposedStringWithCanonicalMapping else {
                try await tell(.passwordsDiffer, nil, of: token, browser: secret, context: context)
                return answer
            }
            input = .password(new)
        }
        switch try await take(input, of: token, browser: secret, context: context) {
        case .success(let messages):
            answer.messages = messages
            answer.cookies.signIn = next
            try await tell(nil, nil, of: token, browser: next ?? secret, context: context)
        case .failure(let refusal):
            // A second submission of the same form may have bound the recovery to a new secret.
            if case .code = action, let page = try await self.page(ofRecovery: token, context: context),
                page.browser.isProved, page.browser.secret(of: browser) == nil
            {
                return try await repeatCode(action, of: token, context: context)
            }
            var violated: [PasswordRule]?
            if case .unacceptablePassword(let rules) = refusal { violated = rules }
            try await tell(refusal.notice, until: refusal.until, violated, of: token, browser: secret, context: context)
        }
        return answer
    }

    /// Runs a step, and counts a wrong guess.
    private func take(
        _ input: RecoveryInput, of token: String, browser: String, context: RequestContext
    ) async throws -> Result<[OutgoingMessage], RecoveryRefusal> {
        do {
            let result = try await transact(context, refusing: RecoveryRefusal.self) { [self] reading in
                let state = try RecoveryState(token, browser: browser, reading, context: context)
                try admit(input, state)
                return state
            } check: { [self] state in
                check(input, state)
            } decide: { [self] state, verdict in
                try state.plan(decide(input, verdict, state))
            }
            if case .failure(let refusal) = result, let limit = refusal.guessLimit {
                try await countWrongGuess(limit: limit, context: context)
            }
            return result
        } catch is PasswordHasher.Overloaded {
            return .failure(.busy(until: context.now.addingTimeInterval(1)))
        }
    }

    private func page(ofRecovery token: String, context: RequestContext) async throws -> RecoveryPage? {
        guard token.utf8.count <= 64 else { return nil }
        return try await store.read { view in
            try view.transaction(.stateToken, secret: token, now: context.now)?.0.value.recovery?.page
        }
    }

    /// The maximum number of repeated codes in one recovery.
    private static let mostRepeatedCodes = 3

    /// Accepts the correct code again from a browser that lost the response. An attacker who planted the browser's old secret does not know
    /// the code, and has few guesses.
    private func repeatCode(_ action: RecoveryAction, of token: String, context: RequestContext) async throws -> HostedAnswer {
        let refused = HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
        guard case .code(let code) = action else { return refused }
        return try await transact(context) { reading in
            try reading.view.transaction(.stateToken, secret: token, now: context.now)?.0
        } decide: { found in
            guard let found, var page = found.value.recovery?.page, let accepted = page.acceptedCode,
                page.repeatedCodes ?? 0 < Self.mostRepeatedCodes
            else { return Plan(refused) }
            page.repeatedCodes = (page.repeatedCodes ?? 0) + 1
            var answer = refused
            if acceptedDigest(of: code, for: found.value.id).isSameSecret(as: accepted) {
                let secret = try environment.random.secret()
                // While the question is unanswered, only the latest browser that sent the code continues.
                if found.value.recovery?.stage == .question { page.browser = page.browser.unproved }
                page.browser.bind(to: secret)
                answer = HostedAnswer(.recovery(.page(token: token)))
                answer.cookies.signIn = secret
            }
            var next = found.value
            next.recovery?.page = page
            return Plan(answer, Writes([try found.writing(next)]))
        }
    }

    /// Sets the notice of the page, unless the recovery has ended.
    private func tell(
        _ notice: RecoveryPage.Notice?, until: Date? = nil, _ violated: [PasswordRule]?, of token: String, browser: String,
        context: RequestContext
    ) async throws {
        _ = try await transact(context, refusing: RecoveryRefusal.self) { reading in
            try RecoveryState(token, browser: browser, reading, context: context)
        } decide: { state in
            var next = state.transaction
            next.recovery?.page?.notice = notice
            next.recovery?.page?.noticeUntil = until
            next.recovery?.page?.violatedRules = violated
            return Plan(.success(()), next == state.transaction ? Writes() : Writes([try state.stored.writing(next)]))
        }
    }

    /// The subject of the form tokens of a recovery.
    private static func form(of token: String) -> String { "recovery \(token)" }
}

extension RecoveryState {
    /// Plans a step. The answer is the messages to send, or the refusal for the page's notice.
    func plan(_ decision: RecoveryDecision) throws -> Plan<Result<[OutgoingMessage], RecoveryRefusal>> {
        let (next, outcome, effects) = decision.step
        var writes = try decision.writes + Writes(effects, of: next, user: user)
        writes += [try stored.writing(next.extended(now: context.now) ?? next)]
        if next.end != nil { writes += [.closeTickets(of: RecordReference(.transaction, next.id))] }
        switch outcome {
        case .tryAgain, .refused: return Plan(.failure(decision.wrong), writes)
        default: return Plan(.success(decision.messages), writes)
        }
    }
}

extension HostedPage.Notice {
    fileprivate init(_ notice: RecoveryPage.Notice) {
        switch notice {
        case .wrongCode: self = .wrongSentCode
        case .wrongAnswer: self = .wrongAnswer
        case .passwordsDiffer: self = .passwordsDiffer
        case .sentJustNow: self = .sentJustNow
        case .tooManyAttempts: self = .tooManyAttempts
        case .busy: self = .busy
        }
    }
}
