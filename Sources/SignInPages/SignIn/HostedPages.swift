internal import Foundation
package import IdentityCore
internal import Store

extension Engine {
    /// Returns the page that shows the current state of a sign-in, or the response to the client after the last proof. The browser can load
    /// the page again: a new code then replaces the previous one, until the client exchanges a code or the first code expires.
    package func signInPage(_ token: String, browser: BrowserSecrets, context: RequestContext) async throws -> HostedAnswer {
        try await HostedAnswer {
            let shown = try await transact(context) {
                .page(token, browser: browser)
            } read: { reading in
                try HostedState(token, browser: browser, reading, context: context)
            } decide: { state in
                try state.shown()
            }
            guard let shown else { return try await signInPage(token, browser: browser, context: context) }
            return shown
        }
    }

    /// Returns whether a sign-in waits for the user's action on a phone or in a mail. Returns `false` also if there is no such sign-in, or
    /// if it does not continue in this browser.
    package func isAnswerAwaited(of token: String, browser: BrowserSecrets, context: RequestContext) async throws -> Bool {
        do {
            let state = try await hostedState(token, browser: browser, context: context)
            guard state.transaction.end == nil else { return false }
            if state.canEnroll, let phone = state.transaction.phone, context.now < phone.expiresAt { return true }
            return state.awaitsLink || state.transaction.challenge?.isOpen(at: context.now) ?? false
        } catch is EarlyAnswer {
            return false
        }
    }

    /// Returns the sign-in that the address of a page names; throws ``EarlyAnswer`` if it does not continue in this browser.
    func hostedState(_ token: String, browser: BrowserSecrets, context: RequestContext) async throws -> HostedState {
        try await store.read {
            .page(token, browser: browser)
        } _: { [self] view in
            let reading = Reading<Never>(view: view, engine: self, verdict: nil, isRepeated: false, hasConflicted: false)
            return try HostedState(token, browser: browser, reading, context: context)
        }
    }
}

extension HostedState {
    /// Returns the answer to a browser that loads the page; `nil` if the sign-in advanced, so that the caller must read its next state.
    fileprivate func shown() throws -> Plan<HostedAnswer?> {
        if let response = hosted.refused.flatMap(response) { return Plan(HostedAnswer(.respond(response))) }
        switch transaction.end {
        case .authenticated:
            guard !needsConsent else { return Plan(page(.consent(requestedScopes))) }
            if let device = hosted.device { return try devicePage(device).map { $0 } }
            guard let user else { return Plan(HostedAnswer(.refused(HostedRefusal(.over)))) }
            return try engine.finish(proved(transaction, user), context: context).map { $0 }
        case .refused, .cancelled, .recovered: return Plan(HostedAnswer(.refused(HostedRefusal(.over))))
        case nil: break
        }
        if let challenge = transaction.challenge {
            switch challenge.state {
            case .pending:
                if now < challenge.expiresAt { return Plan(pushPage(challenge)) }
                return Plan(try factorPage(notice: notice(ofPush: .unanswered)))
            case .approved where !transaction.hasUncountedApproval: break
            case .approved where now >= challenge.expiresAt: return Plan(try factorPage(notice: .unanswered))
            case .denied where !transaction.isRejectedForGood, .failed where !transaction.isRejectedForGood:
                return Plan(try factorPage(notice: notice(ofPush: .notApproved)))
            case .approved, .denied, .failed: return try countAnswer()
            }
        }
        return hasApprovedLink ? try countLink().map { _ in nil } : Plan(try factorPage())
    }

    /// Returns the page for the next input: the password, a factor, an enrollment or a new password.
    private func factorPage(notice: HostedSignIn.Notice? = nil) throws -> HostedAnswer {
        guard let subject, !transaction.proofs.isEmpty else {
            return page(
                .password(
                    login: hosted.login, isLoginFixed: false, canRecover: recoveryPolicy(isUnlock: false) != nil,
                    canUnlock: recoveryPolicy(isUnlock: true) != nil, passkey: try firstPasskeyOptions()), notice: notice)
        }
        if canEnroll { return try enrollmentPage() }
        if passwordDue != nil {
            return page(
                .newPassword(login: subject.user.login, rules: subject.passwordPolicy.rules, violated: hosted.violatedRules ?? []),
                notice: notice)
        }
        if let offer { return try offerPage(offer) }
        guard case .factor(let kinds) = transaction.requirement(for: subject) else {
            return HostedAnswer(.refused(HostedRefusal(.over)))
        }
        let choices = choices(of: kinds)
        if let sent = sentCodePage(choices, notice: notice) { return sent }
        if let passkey = try passkeyPage(choices, notice: notice) { return passkey }
        if let code = savedCodePage(choices, notice: notice) { return code }
        guard choices.isEmpty else { return page(.factors(choices), notice: notice) }
        // Passkeys of an earlier RP ID cannot be used here.
        guard kinds.contains(.password) else { return HostedAnswer(.refused(HostedRefusal(.over))) }
        return page(.password(login: subject.user.login, isLoginFixed: true, canRecover: false, canUnlock: false), notice: notice)
    }

    /// Applies the device's answer to the sign-in.
    private func countAnswer() throws -> Plan<HostedAnswer?> {
        let isApproved = transaction.challenge?.approver != nil
        var (next, outcome, effects) = transaction.step(.polled(isApproved && approver == nil ? nil : subject), now: now)
        guard let user else { return Plan(HostedAnswer(.refused(HostedRefusal(.over)))) }
        next.hosted?.notice = nil
        next.record(outcome)
        // A concurrent change of the enrollment causes a conflict.
        let closing = transaction.closingChallenge + (approver.map { [$0.unchanged] } ?? [])
        if case .authenticated = outcome, !needsConsent, hosted.device == nil {
            var changed = user
            changed.value = effects.user(after: user.value)
            let writes = try Writes(effects, of: next, user: nil) + closing
            return try engine.finish(
                proved(next, changed, writes, isUserChanged: changed.value != user.value), context: context
            ).map { $0 }
        }
        var answer: HostedAnswer?
        if case .refused = outcome {
            let response = next.hosted?.refused.flatMap(response)
            answer = HostedAnswer(response.map { .respond($0) } ?? .refused(HostedRefusal(.over)))
        }
        return try moving(to: next, Writes(effects, of: next, user: user) + closing).map { _ in answer }
    }
}
