internal import Foundation

/// Beginning a recovery from the page of a sign-in, which goes on afterwards.
extension IdentityEngine {
    /// The page that asks for the name, and for the way that a code or a link is to take.
    ///
    /// - Parameters:
    ///   - isUnlock: Whether a locked account is to be opened; otherwise a password was forgotten.
    ///   - token: What the page's address names the sign-in by.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: The page; or back to the sign-in, where the policy does not let people recover, or who it is is known already.
    /// - Throws: ``StoreError`` if the store failed.
    public func recoveryForm(
        isUnlock: Bool, of token: String, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        switch try await hostedState(token, browser: browser, context: context) {
        case .failure(let end): return HostedAnswer(.refused(HostedRefusal(end.reason)))
        case .success(let state):
            guard let policy = state.recoveryPolicy(isUnlock: isUnlock) else { return HostedAnswer(.goOn(token: token)) }
            let channels = CodeChannel.allCases.filter(policy.recovery.contains)
            var answer = state.page(.recover(isUnlock: isUnlock, channels: channels, login: state.hosted.login))
            if case .page(var page) = answer.outcome {
                // What was wrong with a password is no matter here.
                if page.notice != .sentJustNow && page.notice != .tooManyAttempts { page.notice = nil }
                answer.outcome = .page(page)
            }
            return answer
        }
    }

    /// Begins it. What the browser gets is the same for every name: a page that asks for a code, or one that says that a mail was sent to
    /// whoever can have one.
    ///
    /// - Parameters:
    ///   - isUnlock: Whether a locked account is to be opened.
    ///   - username: The name as it was typed.
    ///   - channel: The way: `sms`, `call` or `email`.
    ///   - token: What the page's address names the sign-in by.
    ///   - formToken: What the form carried.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: Where the browser goes, and what is to be sent.
    /// - Throws: ``StoreError`` if the store failed.
    public func beginRecovery(
        isUnlock: Bool, username: String, channel: String, of token: String, formToken: String?, browser: BrowserSecrets,
        context: RequestContext
    ) async throws -> HostedAnswer {
        let state: HostedState
        switch try await hostedState(token, browser: browser, context: context) {
        case .failure(let end): return HostedAnswer(.refused(HostedRefusal(end.reason)))
        case .success(let found): state = found
        }
        guard FormToken.isRight(formToken, browser: state.browser, transaction: state.transaction.id) else {
            return HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
        }
        guard state.recoveryPolicy(isUnlock: isUnlock) != nil else { return HostedAnswer(.goOn(token: token)) }
        let name = Self.possibleName(username)
        var request = ClassicRecoveryRequest(isUnlock: isUnlock, username: name, factorType: channel)
        request.page = RecoveryBeginning(browser: state.browser, signIn: token, locales: state.hosted.request.locales)
        switch try await classicRecover(request, caller: ClassicCaller(), context: context) {
        case .failure(let refusal):
            let notice: HostedSignIn.Notice? = RecoveryPage.Notice(refusal).map { $0 == .sentJustNow ? .sentJustNow : .tooManyAttempts }
            try await leave(notice, until: refusal.rateLimit?.reset, login: name, of: token, browser: browser, context: context)
            return HostedAnswer(.recovery(.form(signIn: token, isUnlock: isUnlock)))
        case .success(let begun):
            try await leave(nil, login: name, of: token, browser: browser, context: context)
            var answer = HostedAnswer(.recovery(.sent(signIn: token, isUnlock: isUnlock)))
            if case .transaction(let transaction) = begun.outcome, let state = transaction.stateToken {
                answer.outcome = .recovery(.page(token: state))
            }
            answer.messages = begun.messages
            return answer
        }
    }

    /// The page that says that a mail was sent, if there is anybody who can have one.
    ///
    /// - Parameters:
    ///   - isUnlock: Whether a locked account is to be opened.
    ///   - token: What the page's address names the sign-in by.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: The page.
    /// - Throws: ``StoreError`` if the store failed.
    public func recoverySent(
        isUnlock: Bool, of token: String, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        switch try await hostedState(token, browser: browser, context: context) {
        case .failure(let end): HostedAnswer(.refused(HostedRefusal(end.reason)))
        case .success(let state):
            state.recoveryPolicy(isUnlock: isUnlock) == nil
                ? HostedAnswer(.goOn(token: token)) : state.page(.recoveryMailed(isUnlock: isUnlock))
        }
    }

    /// Leaves word on the sign-in, which may be written by somebody else at the same moment: then that is what it tells.
    private func leave(
        _ notice: HostedSignIn.Notice?, until: Date? = nil, login: String, of token: String, browser: BrowserSecrets,
        context: RequestContext
    ) async throws {
        guard case .success(let state) = try await hostedState(token, browser: browser, context: context) else { return }
        var next = state.transaction
        next.hosted?.notice = notice
        next.hosted?.noticeUntil = until
        next.hosted?.login = login
        _ = try await store.commit([state.stored.writing(next)])
    }
}

extension HostedState {
    /// By which policy people can get back into their accounts from here; nil where they cannot, or who it is is known already.
    func recoveryPolicy(isUnlock: Bool) -> ClassicPolicy? {
        guard transaction.end == nil, transaction.proofs.isEmpty, let policy = snapshot.organization.classic,
            policy.allowsRecovery(isUnlock: isUnlock)
        else { return nil }
        return policy
    }
}
