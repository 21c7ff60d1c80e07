internal import Foundation
package import IdentityCore
internal import Store

/// The start of a recovery from the page of a sign-in. The sign-in can continue after the recovery.
extension Engine {
    /// Returns the page that asks for the user name and the channel of the code or link. Redirects to the sign-in if the policy permits no
    /// recovery, or if the user is known already. `isUnlock` selects the unlock of the account instead of the reset of a password.
    package func recoveryForm(
        isUnlock: Bool, of token: String, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        try await HostedAnswer {
            let state = try await hostedState(token, browser: browser, context: context)
            guard let policy = state.recoveryPolicy(isUnlock: isUnlock) else { return state.onward }
            let channels = CodeChannel.allCases.filter(policy.recovery.contains)
            var answer = state.page(.recover(isUnlock: isUnlock, channels: channels, login: state.hosted.login))
            if case .page(var page) = answer.outcome {
                // The page for the user name shows no notice about a password.
                if page.notice != .sentJustNow && page.notice != .tooManyAttempts { page.notice = nil }
                answer.outcome = .page(page)
            }
            return answer
        }
    }

    /// Starts a recovery. Every user name gets the same response, which does not reveal whether the account exists: a page that asks for a
    /// code, or one that announces a mail. `channel` is `sms`, `call` or `email`, and `token` is the state token of the sign-in.
    package func beginRecovery(
        isUnlock: Bool, username: String, channel: String, of token: String, formToken: String?, browser: BrowserSecrets,
        context: RequestContext
    ) async throws -> HostedAnswer {
        let name = Self.possibleName(username)
        let channel = CodeChannel(form: channel)
        return try await HostedAnswer {
            try await transact(
                context,
                lookup: { [self] _ in
                    let account = rows(ofLogin: name, with: .factors)
                    return Lookup(Lookup.page(token, browser: browser).nodes + account + [.recoveryBudget(at: context.now)])
                }
            ) { [self] (reading: Reading<RecoveryRefusal>) in
                let state = try HostedState(token, browser: browser, reading, context: context)
                guard FormToken.isRight(formToken, browser: state.browser, transaction: state.transaction.id) else {
                    throw EarlyAnswer(.otherBrowser)
                }
                guard state.recoveryPolicy(isUnlock: isUnlock) != nil else { throw EarlyAnswer(state.onward) }
                let request = RecoveryRequest(
                    isUnlock ? .unlock : .password, username: name, channel: channel, rules: .pages,
                    page: RecoveryBeginning(browser: state.browser, signIn: token, locales: state.request.locales))
                var (start, refusal): (RecoveryStart?, RecoveryRefusal?) = (nil, reading.verdict)
                do {
                    if refusal == nil { start = try recoveryStart(request, reading, context) }
                } catch let limit as RecoveryRefusal { refusal = limit }
                return (state, start, refusal)
            } check: {
                // Only the first read counts the attempt. Its refusal becomes the verdict, which the runner keeps after a conflict.
                $0.2.map { refusal in Check(of: "refusal") { refusal } }
            } decide: { [self] found, refusal in
                let (state, start, _) = found
                var next = state.transaction
                next.hosted?.login = name
                next.hosted?.notice = refusal?.notice.map { $0 == .sentJustNow ? .sentJustNow : .tooManyAttempts }
                next.hosted?.noticeUntil = refusal?.until
                guard let start else {
                    return try state.moving(to: next, answer: HostedAnswer(.recovery(.form(signIn: token, isUnlock: isUnlock))))
                }
                var plan = try begin(start, context: context).map { begun in
                    HostedAnswer(.recovery(begun.stateToken.map { .page(token: $0) } ?? .sent(signIn: token, isUnlock: isUnlock)))
                }
                plan.writes += [try state.stored.writing(next)]
                return plan
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
}

extension HostedState {
    /// Returns the policy that permits a recovery from this sign-in; `nil` if no policy permits it, if a factor is already proved, or if
    /// the sign-in has ended.
    func recoveryPolicy(isUnlock: Bool) -> ClassicPolicy? {
        guard transaction.end == nil, transaction.proofs.isEmpty, let policy = snapshot.organization.classic,
            policy.allowsRecovery(isUnlock: isUnlock)
        else { return nil }
        return policy
    }
}

extension CodeChannel {
    /// Creates the channel that a form names: `sms`, `call` or `email`.
    init?(form text: String) {
        guard let channel = Self.allCases.first(where: { ($0 == .voice ? "call" : $0.rawValue) == text.lowercased() }) else { return nil }
        self = channel
    }
}
