internal import Foundation
package import IdentityCore
internal import JOSE
internal import Store

/// The steps of a recovery on the pages: the code, the user's question, a new password.
extension Engine {
    /// Returns the page that shows the current state of a recovery.
    package func recoveryPage(_ token: String, browser: BrowserSecrets, context: RequestContext) async throws -> HostedAnswer {
        try await HostedAnswer {
            try await transact(context) {
                .recovery(token, at: context.now)
            } read: { [self] reading in
                guard token.utf8.count <= 64,
                    case (let stored, let ticket)? = try reading.view.transaction(.stateToken, secret: token, now: context.now),
                    let recovery = stored.value.recovery, let page = recovery.page
                else { throw EarlyAnswer(.over) }
                guard let secret = page.browser.secret(of: browser) else { throw EarlyAnswer(.otherBrowser) }
                let content: HostedPage.Content
                if stored.value.end == .recovered {
                    if case .expired = ticket { throw EarlyAnswer(.over) }
                    content = .recovered(recovery.kind.page, signIn: try page.signInToken(of: stored.value.id, environment: environment))
                } else {
                    let state = try RecoveryState(token, browser: secret, reading, context, or: EarlyAnswer(.over))
                    switch (recovery.stage, state.question) {
                    case (.code, _): content = .recoveryCode(state.channel)
                    case (.question, let question?): content = .recoveryQuestion(key: question.key, text: question.text)
                    case (.reset, _):
                        content = .recoveryPassword(
                            recovery.kind.page, login: state.user.value.login, rules: state.snapshot.passwordPolicy.rules,
                            violated: page.violatedRules ?? [])
                    default: throw EarlyAnswer(.over)
                    }
                }
                let snapshot = try reading.snapshot
                let notice = page.notice(at: context.now).map(HostedPage.Notice.init)
                return HostedAnswer(
                    .page(
                        HostedPage(
                            content: content, notice: notice, applicationName: snapshot.organization.name,
                            formToken: FormToken.make(browser: secret, transaction: Self.form(of: token)), returnURI: snapshot.origin,
                            locales: page.locales)))
            } decide: {
                Plan($0)
            }
        }
    }

    /// Handles a form that the user submits on a page of a recovery. Returns the redirect to the page that shows the result.
    package func recoveryStep(
        _ action: RecoveryAction, of token: String, formToken: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        do {
            let (answer, guess) = try await transact(context, lookup: { _ in .recovery(token, at: context.now) }) { [self] reading in
                try step(action, of: token, formToken: formToken, browser: browser, reading, context)
            } check: {
                $0.check
            } decide: {
                try $0.plan($1)
            }
            if let guess { reportGuess(guess) }
            return answer
        } catch let early as EarlyAnswer { return early.answer }
    }

    private func step(
        _ action: RecoveryAction, of token: String, formToken: String?, browser: BrowserSecrets, _ reading: Reading<RecoveryStep.Verdict>,
        _ context: RequestContext
    ) throws -> RecoveryStep {
        guard token.utf8.count <= 64, let (stored, _) = try reading.view.transaction(.stateToken, secret: token, now: context.now),
            let page = stored.value.recovery?.page
        else { throw EarlyAnswer(.otherBrowser) }
        func isForm(of secret: String) -> Bool { FormToken.isRight(formToken, browser: secret, transaction: Self.form(of: token)) }
        let onward = HostedAnswer(.recovery(.page(token: token)))
        let own = page.browser.secret(of: browser)
        if let own, isForm(of: own) {
            let state = try RecoveryState(token, browser: own, reading, context, or: EarlyAnswer(onward))
            return try step(action, state, after: reading.verdict, answer: onward)
        }
        // The form belongs to a page from before the correct code.
        guard page.browser.startSecret(of: browser).map(isForm) == true else { throw EarlyAnswer(.otherBrowser) }
        guard own == nil else { throw EarlyAnswer(onward) }
        return RecoveryStep { [self] _ in try repeatCode(action, stored, page, answer: onward) }
    }

    /// Returns the step of a browser that may continue the recovery. `known` is the verdict of an earlier check of the same request; that
    /// check counted the attempt.
    private func step(
        _ action: RecoveryAction, _ state: RecoveryState, after known: RecoveryStep.Verdict?, answer onward: HostedAnswer
    ) throws -> RecoveryStep {
        var moved = onward
        if case .code = action, state.recovery?.page?.browser.isProved == false {
            moved.cookies.signIn = try environment.random.secret()
        }
        guard let input = action.input(nextSecret: moved.cookies.signIn) else {
            return RecoveryStep { _ in try state.noting(.passwordsDiffer, answer: onward) }
        }
        let check = check(input, state)?.map { [self] judge -> RecoveryStep.Verdict in
            if case .failure(.tooManyAttempts)? = known, let known { return known }
            do {
                try countAttempt(state, isCounted: known != nil)
                return .success(try await judge())
            } catch let refusal as RecoveryRefusal {
                return .failure(refusal)
            } catch is PasswordHasher.Overloaded {
                return .failure(.busy(until: state.context.now.addingTimeInterval(1)))
            }
        }
        return RecoveryStep(check: check) { [self, moved] verdict in
            do {
                try admit(input, state, isCounted: true)
                return try state.plan(decide(input, verdict?.get(), state)).map { ($0 == nil ? moved : onward, $0?.guess) }
            } catch let refusal as RecoveryRefusal {
                return try state.noting(refusal.notice, until: refusal.until, violated: refusal.violatedRules, answer: onward)
            }
        }
    }

    /// The maximum number of repeated codes in one recovery.
    private static let mostRepeatedCodes = 3

    /// Accepts the correct code again from a browser that lost the response. An attacker who planted the browser's old secret does not know
    /// the code, and has at most ``mostRepeatedCodes`` guesses.
    private func repeatCode(
        _ action: RecoveryAction, _ stored: StoredTransaction, _ page: RecoveryPage, answer onward: HostedAnswer
    ) throws -> Plan<RecoveryStep.Answer> {
        var (next, page) = (stored.value, page)
        guard case .code(let code) = action, let accepted = page.acceptedCode, page.repeatedCodes ?? 0 < Self.mostRepeatedCodes else {
            throw EarlyAnswer(.otherBrowser)
        }
        page.repeatedCodes = (page.repeatedCodes ?? 0) + 1
        var answer = HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
        if isAccepted(code, digest: accepted, for: next.id) {
            let secret = try environment.random.secret()
            // While the question is unanswered, only the latest browser that sent the code continues.
            if next.recovery?.stage == .question { page.browser = page.browser.unproved }
            page.browser.bind(to: secret)
            answer = onward
            answer.cookies.signIn = secret
        }
        next.recovery?.page = page
        return Plan((answer, nil), Writes([try stored.writing(next)]))
    }

    /// Returns the subject of the form tokens of a recovery.
    private static func form(of token: String) -> String { "recovery \(token)" }
}

/// A step of a recovery, prepared from the data of one read: its check and its plan.
private struct RecoveryStep: Sendable {
    typealias Verdict = Result<RecoveryVerdict, RecoveryRefusal>
    /// The response, and the signal of a wrong guess to report; `nil` for none.
    typealias Answer = (HostedAnswer, guess: SecuritySignal?)

    /// Counts the attempt once per request, and runs the slow check; `nil` if the step needs no check.
    var check: Check<Verdict>?
    let plan: @Sendable (Verdict?) throws -> Plan<Answer>
}

extension RecoveryState {
    /// Reads the recovery of a token; throws `early` if the recovery cannot continue.
    init(
        _ token: String, of kind: TicketKind = .stateToken, browser: String? = nil, _ reading: Reading<some Sendable>,
        _ context: RequestContext, or early: EarlyAnswer
    ) throws {
        do {
            try self.init(token, of: kind, browser: browser, reading, context: context)
        } catch is RecoveryRefusal { throw early }
    }

    /// Plans a step and its notice. The plan's answer is the refusal of a wrong input; `nil` for a success.
    func plan(_ decision: RecoveryDecision) throws -> Plan<RecoveryRefusal?> {
        var (next, outcome, effects) = decision.step
        let refusal: RecoveryRefusal? =
            switch outcome {
            case .tryAgain, .refused: decision.wrong
            default: nil
            }
        next.recovery?.page?.show(refusal?.notice)
        var writes = try decision.writes + Writes(effects, of: next, user: user)
        writes += [try stored.writing(next.extended(now: context.now) ?? next)]
        if next.end != nil { writes += [.closeTickets(of: RecordReference(.transaction, next.id))] }
        return Plan(refusal, writes)
    }

    /// Plans only a notice.
    fileprivate func noting(
        _ notice: RecoveryPage.Notice?, until: Date? = nil, violated: [PasswordRule]? = nil, answer: HostedAnswer
    ) throws -> Plan<RecoveryStep.Answer> {
        var next = transaction
        next.recovery?.page?.show(notice, until: until, violated: violated)
        return Plan((answer, nil), next == transaction ? Writes() : Writes([try stored.writing(next)]))
    }
}

extension RecoveryPage {
    /// Replaces the message about the previous step.
    fileprivate mutating func show(_ notice: Notice?, until: Date? = nil, violated: [PasswordRule]? = nil) {
        (self.notice, violatedRules) = (notice, violated)
        noticeUntil = until
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
