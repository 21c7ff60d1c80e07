internal import Foundation

extension IdentityEngine {
    /// The page on which a sign-in stands, or where it leads once all is proved.
    ///
    /// Looking again is harmless: a code whose answer was lost is replaced by another, until one was exchanged.
    ///
    /// - Parameters:
    ///   - token: What the page's address names it by.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: The page, or where the browser goes.
    /// - Throws: ``StoreError`` if the store failed.
    public func signInPage(_ token: String, browser: BrowserSecrets, context: RequestContext) async throws -> HostedAnswer {
        for _ in 0..<Self.attempts {
            switch try await hostedState(token, browser: browser, context: context) {
            case .failure(let end): return HostedAnswer(.refused(HostedRefusal(end.reason)))
            case .success(let state): if let answer = try await show(state, context: context) { return answer }
            }
        }
        throw StoreError(.unavailable, "The sign-in met other writers \(Self.attempts) times. Try it again.")
    }

    /// Whether a sign-in waits for what the person answers on a device: a page that does looks again once it is over.
    ///
    /// - Parameters:
    ///   - token: What the page's address names it by.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: False also if there is no such sign-in, or it does not go on in this browser.
    /// - Throws: ``StoreError`` if the store failed.
    public func isAnswerAwaited(of token: String, browser: BrowserSecrets, context: RequestContext) async throws -> Bool {
        guard case .success(let state) = try await hostedState(token, browser: browser, context: context), state.transaction.end == nil
        else { return false }
        if state.canEnroll, let phone = state.hosted.phone, context.now < phone.expiresAt { return true }
        if state.awaitsLink(at: context.now) { return true }
        return state.transaction.challenge?.isOpen(at: context.now) ?? false
    }

    func hostedState(
        _ token: String, browser: BrowserSecrets, mayProveAgain: Bool = false, context: RequestContext
    ) async throws -> Result<HostedState, HostedEnd> {
        try await store.read { [self] view in
            do {
                return .success(
                    try HostedState(
                        token, browser: browser, mayProveAgain: mayProveAgain, snapshot: snapshot(view), view: view, context: context))
            } catch let end as HostedEnd {
                return .failure(end)
            }
        }
    }

    /// - Returns: Nil if somebody else was faster.
    private func show(_ state: HostedState, context: RequestContext) async throws -> HostedAnswer? {
        let transaction = state.transaction
        if let response = state.hosted.refused.flatMap(state.response) { return HostedAnswer(.respond(response)) }
        switch transaction.end {
        case .authenticated:
            guard !state.needsConsent else { return state.page(.consent(state.requestedScopes)) }
            if let device = state.hosted.device { return state.devicePage(device) }
            guard let user = state.user else { return HostedAnswer(.refused(HostedRefusal(.over))) }
            return try await finish(state.proved(transaction, user), context: context)
        case .refused, .cancelled, .recovered: return HostedAnswer(.refused(HostedRefusal(.over)))
        case nil: break
        }
        if let challenge = transaction.challenge {
            switch challenge.state {
            case .pending:
                if context.now < challenge.expiresAt { return state.pushPage(challenge, now: context.now) }
                return try factorPage(state, context: context, notice: state.notice(ofPush: .unanswered))
            case .approved where !transaction.hasUncountedApproval: break
            case .approved where context.now >= challenge.expiresAt: return try factorPage(state, context: context, notice: .unanswered)
            case .denied where !transaction.isRejectedForGood, .failed where !transaction.isRejectedForGood:
                return try factorPage(state, context: context, notice: state.notice(ofPush: .notApproved))
            case .approved, .denied, .failed: return try await count(state, context: context)
            }
        }
        // The next look shows what comes after it.
        if state.hasApprovedLink(at: context.now) {
            _ = try await countLink(state, context: context)
            return nil
        }
        return try factorPage(state, context: context)
    }

    /// The page that asks for what is missing.
    private func factorPage(_ state: HostedState, context: RequestContext, notice: HostedSignIn.Notice? = nil) throws -> HostedAnswer {
        guard let subject = state.subject, !state.transaction.proofs.isEmpty else {
            return state.page(
                .password(
                    login: state.hosted.login, isLoginFixed: false, canRecover: state.recoveryPolicy(isUnlock: false) != nil,
                    canUnlock: state.recoveryPolicy(isUnlock: true) != nil), notice: notice)
        }
        if state.canEnroll { return try enrollmentPage(state, context: context) }
        if state.passwordDue != nil {
            return state.page(
                .newPassword(
                    login: subject.user.login, rules: subject.passwordPolicy.rules, violated: state.hosted.violatedRules ?? []),
                notice: notice)
        }
        guard case (_, .factorRequired(let grants), _) = state.transaction.proved(subject, "", []) else {
            return HostedAnswer(.refused(HostedRefusal(.over)))
        }
        let choices = state.choices(of: grants)
        if let sent = state.sentCodePage(choices, notice: notice, now: context.now) { return sent }
        guard choices.isEmpty else { return state.page(.factors(choices), notice: notice) }
        return state.page(
            .password(login: subject.user.login, isLoginFixed: true, canRecover: false, canUnlock: false), notice: notice)
    }

    /// Counts what a device answered.
    private func count(_ state: HostedState, context: RequestContext) async throws -> HostedAnswer? {
        let isApproved = state.transaction.challenge?.approver != nil
        let subject = isApproved && state.approver == nil ? nil : state.subject
        var (next, outcome, effects) = state.transaction.step(.polled(subject), now: context.now)
        var changes = try logEntries(effects, userID: next.userID, of: next, context: context) + state.transaction.closingChallenge
        guard let user = state.user else { return HostedAnswer(.refused(HostedRefusal(.over))) }
        if let approver = state.approver { changes.append(.put(try approver.record())) }
        var written = user
        for case .writeUser(let changed) in effects { written.value = changed }
        let writing: [Change] = written.value == user.value ? [] : [.put(try user.record(holding: written.value))]
        next.hosted?.notice = nil
        switch outcome {
        case .authenticated(let proved):
            next.hosted?.authentication = proved
            guard state.needsConsent || next.hosted?.device != nil else {
                return try await finish(
                    state.proved(next, written, changes: changes, isUserChanged: !writing.isEmpty), context: context)
            }
            // The next look asks what is still to be asked.
            _ = try await store.commit(changes + writing + [state.stored.writing(next)])
            return nil
        case .refused(let refusal):
            next.hosted?.refuse(refusal)
            guard try await store.commit(changes + writing + [state.stored.writing(next)]) == .committed else { return nil }
            guard let response = next.hosted?.refused.flatMap(state.response) else { return HostedAnswer(.refused(HostedRefusal(.over))) }
            return HostedAnswer(.respond(response))
        default:
            // More is asked for: the next look shows what.
            _ = try await store.commit(changes + writing + [state.stored.writing(next)])
            return nil
        }
    }
}

extension HostedSignIn {
    /// Notes what the client will be told: what it can act on. What only this sign-in met, such as an account that changed, is told to
    /// the person, who can begin again.
    mutating func refuse(_ refusal: Refusal) {
        guard refusal.code != .invalidGrant, refusal.code != .expiredToken else { return }
        refused = Refused(error: refusal.code.rawValue, description: refusal.description)
    }
}
