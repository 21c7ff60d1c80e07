internal import Foundation
package import IdentityCore

/// The start of a recovery from the page of a sign-in, which continues afterwards.
extension Engine {
    /// Returns the page that asks for the user name and the channel of the code or link. Redirects to the sign-in if the policy permits no
    /// recovery, or if the user is known already. Without `isUnlock`, the user forgot a password.
    package func recoveryForm(
        isUnlock: Bool, of token: String, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        try await HostedAnswer {
            let state = try await hostedState(token, browser: browser, context: context)
            guard let policy = state.recoveryPolicy(isUnlock: isUnlock) else { return state.onward }
            let channels = CodeChannel.allCases.filter(policy.recovery.contains)
            var answer = state.page(.recover(isUnlock: isUnlock, channels: channels, login: state.hosted.login))
            if case .page(var page) = answer.outcome {
                // Notices about a password do not belong here.
                if page.notice != .sentJustNow && page.notice != .tooManyAttempts { page.notice = nil }
                answer.outcome = .page(page)
            }
            return answer
        }
    }

    /// Starts a recovery. Every user name gets the same response, which does not reveal whether the account exists: a page that asks for a
    /// code, or one that announces a mail.
    /// - Parameters:
    ///   - username: The user name as typed.
    ///   - channel: The channel: `sms`, `call` or `email`.
    ///   - token: The token of the sign-in in the address of the page.
    package func beginRecovery(
        isUnlock: Bool, username: String, channel: String, of token: String, formToken: String?, browser: BrowserSecrets,
        context: RequestContext
    ) async throws -> HostedAnswer {
        try await HostedAnswer {
            let state = try await hostedState(token, browser: browser, context: context)
            guard FormToken.isRight(formToken, browser: state.browser, transaction: state.transaction.id) else {
                throw EarlyAnswer(.otherBrowser)
            }
            guard state.recoveryPolicy(isUnlock: isUnlock) != nil else { return state.onward }
            let name = Self.possibleName(username)
            let channel = CodeChannel.allCases.first { ($0 == .voice ? "call" : $0.rawValue) == channel.lowercased() }
            let request = RecoveryRequest(
                isUnlock ? .unlock : .password, username: name, channel: channel, rules: .pages,
                page: RecoveryBeginning(browser: state.browser, signIn: token, locales: state.request.locales))
            let begun = try await transact(context, refusing: RecoveryRefusal.self) { [self] reading in
                try recoveryStart(request, reading, context)
            } decide: { [self] found in
                try begin(found, context: context).map { .success($0) }
            }
            switch begun {
            case .failure(let refusal):
                let notice: HostedSignIn.Notice? = refusal.notice.map { $0 == .sentJustNow ? .sentJustNow : .tooManyAttempts }
                try await leave(notice, until: refusal.until, login: name, of: token, browser: browser, context: context)
                return HostedAnswer(.recovery(.form(signIn: token, isUnlock: isUnlock)))
            case .success(let begun):
                try await leave(nil, login: name, of: token, browser: browser, context: context)
                var answer = HostedAnswer(.recovery(.sent(signIn: token, isUnlock: isUnlock)))
                if let state = begun.stateToken { answer.outcome = .recovery(.page(token: state)) }
                answer.messages = begun.messages
                return answer
            }
        }
    }

    /// Returns the page that says that a mail was sent if the account exists.
    package func recoverySent(
        isUnlock: Bool, of token: String, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        try await HostedAnswer {
            let state = try await hostedState(token, browser: browser, context: context)
            return state.recoveryPolicy(isUnlock: isUnlock) == nil ? state.onward : state.page(.recoveryMailed(isUnlock: isUnlock))
        }
    }

    /// Sets the notice of the sign-in's page, unless the sign-in has ended.
    private func leave(
        _ notice: HostedSignIn.Notice?, until: Date? = nil, login: String, of token: String, browser: BrowserSecrets,
        context: RequestContext
    ) async throws {
        do {
            try await transact(context) { reading in
                try HostedState(token, browser: browser, reading, context: context)
            } decide: { state in
                var next = state.transaction
                next.hosted?.notice = notice
                next.hosted?.noticeUntil = until
                next.hosted?.login = login
                return Plan((), Writes([try state.stored.writing(next)]))
            }
        } catch is EarlyAnswer {}
    }
}

extension HostedState {
    /// The policy that permits a recovery from this page; `nil` if there is none, or if the user is known already.
    func recoveryPolicy(isUnlock: Bool) -> ClassicPolicy? {
        guard transaction.end == nil, transaction.proofs.isEmpty, let policy = snapshot.organization.classic,
            policy.allowsRecovery(isUnlock: isUnlock)
        else { return nil }
        return policy
    }
}
