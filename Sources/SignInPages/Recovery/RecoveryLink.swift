internal import Foundation
package import IdentityCore
internal import JOSE
internal import Store

/// The mailed link by which a user recovers an account, or sets up a new one. Opening the link does not consume it, because mail scanners
/// also open links. Only the form of its page consumes the link, in the browser that shows the page.
extension Engine {
    /// Returns the subject of the form token. It identifies the link, because the browser can open another link in the meantime.
    private static func linkForm(_ token: String) -> String { "recovery link \(Base64URL.encode(TicketDigest(of: token).bytes))" }

    private static func kind(of token: String) -> TicketKind {
        token.hasPrefix(Recovery.activationPrefix) ? .activationToken : .recoveryToken
    }

    /// Returns the page of a link, and the browser's secret if it has none yet. All invalid links get the same response. `token` is the
    /// link's secret; `nil` if the browser sent none.
    package func recoveryLinkPage(_ token: String?, browser: BrowserSecrets, context: RequestContext) async throws -> HostedAnswer {
        let secret = try browser.possibleBrowser ?? environment.random.secret()
        let token = token ?? ""
        return try await HostedAnswer {
            try await transact(context) {
                .recovery(token, of: Self.kind(of: token), at: context.now)
            } read: { reading in
                let state = try RecoveryState(token, of: Self.kind(of: token), reading, context, or: EarlyAnswer(.link))
                guard let recovery = state.recovery else { throw EarlyAnswer(.link) }
                var answer = HostedAnswer(
                    .page(
                        HostedPage(
                            content: .recoveryLink(recovery.kind.page, login: state.user.value.login), notice: nil,
                            applicationName: state.snapshot.organization.name,
                            formToken: FormToken.make(browser: secret, transaction: Self.linkForm(token)), returnURI: state.snapshot.origin,
                            locales: [])))
                if browser.possibleBrowser == nil { answer.cookies.browser = secret }
                return answer
            } decide: {
                Plan($0)
            }
        }
    }

    /// Consumes a link. The recovery continues in this browser, which gets a new secret.
    package func openRecoveryLink(
        _ token: String?, formToken: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        guard let secret = browser.possibleBrowser,
            FormToken.isRight(formToken, browser: secret, transaction: Self.linkForm(token ?? ""))
        else {
            return HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
        }
        let stateToken = try environment.random.secret(prefix: "00")
        let token = token ?? ""
        // The link is the first proof. The browser gets a new secret, because an attacker may have planted the old one.
        let bound = try environment.random.secret()
        return try await HostedAnswer {
            try await transact(context) {
                .recovery(token, of: Self.kind(of: token), at: context.now)
            } read: { reading in
                try RecoveryState(token, of: Self.kind(of: token), reading, context, or: EarlyAnswer(.link))
            } decide: { state in
                try state.plan(state.exchanged(Self.kind(of: token), token, for: stateToken, browser: (secret, bound))).map { refusal in
                    guard refusal == nil else { return HostedAnswer(.refused(HostedRefusal(.link))) }
                    var answer = HostedAnswer(.recovery(.page(token: stateToken)))
                    answer.cookies.signIn = bound
                    return answer
                }
            }
        }
    }
}

extension Recovery.Kind {
    var page: RecoveryKind {
        switch self {
        case .password: .password
        case .unlock: .unlock
        case .activation: .activation
        }
    }
}
