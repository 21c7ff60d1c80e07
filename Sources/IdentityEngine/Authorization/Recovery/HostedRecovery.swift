internal import Foundation
internal import JOSE

/// The steps of a recovery on the pages: the code, the user's question, a new password.
extension IdentityEngine {
    /// Returns the page that shows the current state of a recovery.
    ///
    /// - Parameters:
    ///   - token: The token in the address of the page.
    ///   - browser: The browser's cookies.
    ///   - context: The request.
    /// - Returns: The page.
    /// - Throws: ``StoreError`` if the store failed.
    public func recoveryPage(_ token: String, browser: BrowserSecrets, context: RequestContext) async throws -> HostedAnswer {
        try await store.read { [self] view in
            guard token.utf8.count <= 64,
                case (let stored, let ticket)? = try view.transaction(.stateToken, secret: token, now: context.now),
                let page = stored.value.classic?.page, let recovery = stored.value.classic?.recovery
            else { return HostedAnswer(.refused(HostedRefusal(.over))) }
            guard let secret = page.browser.secret(of: browser) else {
                return HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
            }
            let snapshot = try snapshot(view)
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
                let state = try ClassicState(
                    token, browser: secret, snapshot: snapshot, view: view, environment: environment, context: context)
                switch state.status(of: state.transaction) {
                case .recoveryChallenge?: return shown(.recoveryCode(recovery.channel ?? .sms))
                case .recovery?:
                    guard let question = state.question else { return HostedAnswer(.refused(HostedRefusal(.over))) }
                    return shown(.recoveryQuestion(key: question.key, text: question.text))
                case .passwordReset?:
                    return shown(
                        .recoveryPassword(
                            recovery.kind.page, login: state.user.value.login, rules: snapshot.passwordPolicy.rules,
                            violated: page.violatedRules ?? []))
                default: return HostedAnswer(.refused(HostedRefusal(.over)))
                }
            } catch is ClassicRefusal {
                return HostedAnswer(.refused(HostedRefusal(.over)))
            }
        }
    }

    /// Takes a step of a recovery.
    ///
    /// - Parameters:
    ///   - action: The action of the form.
    ///   - token: The token in the address of the page.
    ///   - formToken: The token of the form.
    ///   - browser: The browser's cookies.
    ///   - context: The request.
    /// - Returns: The redirect to the page that shows the result, and the messages to send.
    /// - Throws: ``StoreError`` if the store failed; `CancellationError`.
    public func recoveryStep(
        _ action: RecoveryAction, of token: String, formToken: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        var answer = HostedAnswer(.recovery(.page(token: token)))
        let refused = HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
        guard let page = try await page(ofRecovery: token, context: context) else { return refused }
        let own = page.browser.secret(of: browser)
        guard var secret = own, FormToken.isRight(formToken, browser: secret, transaction: Self.form(of: token)) else {
            // A form of a page from before the correct code.
            guard let start = page.browser.startSecret(of: browser),
                FormToken.isRight(formToken, browser: start, transaction: Self.form(of: token))
            else { return refused }
            return own == nil ? try await repeatCode(action, of: token, context: context) : answer
        }
        let result: Result<ClassicAnswer, ClassicRefusal>
        switch action {
        case .code(let code):
            let next = page.browser.isProved ? nil : try environment.random.secret()
            result = try await classicRecoveryVerify(
                passCode: code, stateToken: token, browser: secret, nextSecret: next, context: context)
            if case .success = result, let next {
                answer.cookies.signIn = next
                secret = next
            }
        case .resend: result = try await classicRecoveryResend(stateToken: token, browser: secret, context: context)
        case .answer(let text): result = try await classicRecoveryAnswer(text, stateToken: token, browser: secret, context: context)
        case .password(let new, let repeated):
            // Compared like stored passwords: keyboards compose accents differently.
            guard new.precomposedStringWithCanonicalMapping == repeated.precomposedStringWithCanonicalMapping else {
                try await tell(.passwordsDiffer, nil, of: token, browser: secret, context: context)
                return answer
            }
            result = try await classicResetPassword(to: new, stateToken: token, browser: secret, context: context)
        }
        switch result {
        case .success(let step):
            answer.messages = step.messages
            try await tell(nil, nil, of: token, browser: secret, context: context)
        case .failure(let refusal):
            // A second submission of the same form may have bound the recovery to a new secret.
            if case .code = action, let page = try await self.page(ofRecovery: token, context: context),
                page.browser.isProved, page.browser.secret(of: browser) == nil
            {
                return try await repeatCode(action, of: token, context: context)
            }
            try await tell(
                RecoveryPage.Notice(refusal), until: refusal.rateLimit?.reset, refusal.violatedRules, of: token, browser: secret,
                context: context)
        }
        return answer
    }

    private func page(ofRecovery token: String, context: RequestContext) async throws -> RecoveryPage? {
        guard token.utf8.count <= 64 else { return nil }
        return try await store.read { view in
            try view.transaction(.stateToken, secret: token, now: context.now)?.0.value.classic?.page
        }
    }

    /// The maximum number of repeated codes in one recovery.
    private static let mostRepeatedCodes = 3

    /// Accepts the correct code again from a browser that lost the response. An attacker who planted the browser's old secret does not know the
    /// code, and has few guesses.
    private func repeatCode(_ action: RecoveryAction, of token: String, context: RequestContext) async throws -> HostedAnswer {
        let refused = HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
        guard case .code(let code) = action else { return refused }
        return try await transact(context) { reading in
            try reading.view.transaction(.stateToken, secret: token, now: context.now)?.0
        } decide: { found in
            guard let found, var page = found.value.classic?.page, let accepted = page.acceptedCode,
                page.repeatedCodes ?? 0 < Self.mostRepeatedCodes
            else { return Plan(refused) }
            page.repeatedCodes = (page.repeatedCodes ?? 0) + 1
            var answer = refused
            if acceptedDigest(of: code, for: found.value.id).isSameSecret(as: accepted) {
                let secret = try environment.random.secret()
                // While the question is unanswered, only the latest browser that sent the code continues.
                if found.value.classic?.recovery?.stage == .question { page.browser = page.browser.unproved }
                page.browser.bind(to: secret)
                answer = HostedAnswer(.recovery(.page(token: token)))
                answer.cookies.signIn = secret
            }
            var next = found.value
            next.classic?.page = page
            return Plan(answer, Writes([try found.writing(next)]))
        }
    }

    /// Sets the notice of the page, unless the recovery is over.
    private func tell(
        _ notice: RecoveryPage.Notice?, until: Date? = nil, _ violated: [PasswordRule]?, of token: String, browser: String,
        context: RequestContext
    ) async throws {
        _ = try await transact(context, refusing: ClassicRefusal.self) { reading in
            try ClassicState(
                token, browser: browser, snapshot: try reading.snapshot, view: reading.view, environment: reading.engine.environment,
                context: context)
        } decide: { state in
            var next = state.transaction
            next.classic?.page?.notice = notice
            next.classic?.page?.noticeUntil = until
            next.classic?.page?.violatedRules = violated
            return Plan(.success(()), next == state.transaction ? Writes() : Writes([try state.stored.writing(next)]))
        }
    }

    /// The subject of the form tokens of a recovery.
    private static func form(of token: String) -> String { "recovery \(token)" }
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
