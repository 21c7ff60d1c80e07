internal import Foundation
internal import JOSE

/// The link of a mail by which an account is recovered, or set up by who never signed in. To open it takes nothing: programs that look at mails do. Only the form of its
/// page does, in the browser that shows it.
extension IdentityEngine {
    /// What the token of the form is about: this link, whichever the browser has opened since then.
    private static func linkForm(_ token: String) -> String { "recovery link \(Base64URL.encode(TicketDigest(of: token).bytes))" }

    private static func kind(of token: String) -> TicketKind { token.hasPrefix(activationPrefix) ? .activationToken : .recoveryToken }

    /// The page of a link.
    ///
    /// - Parameters:
    ///   - token: The link's secret; nil if the browser brought none.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: The page, and the browser's secret if it has none yet. Whatever is not good (any more) is answered alike.
    /// - Throws: ``StoreError`` if the store failed.
    public func recoveryLinkPage(_ token: String?, browser: BrowserSecrets, context: RequestContext) async throws -> HostedAnswer {
        let secret = try browser.possibleBrowser ?? environment.random.secret()
        let found = try await store.read { [self] view -> (ClassicRecovery, login: String, OrgSnapshot)? in
            guard let token, token.utf8.count <= 64,
                case (let stored, .fresh)? = try view.transaction(Self.kind(of: token), secret: token, now: context.now),
                let recovery = stored.value.classic?.recovery
            else { return nil }
            let snapshot = try snapshot(view)
            do {
                let state = try ClassicState(
                    stored, token: "", snapshot: snapshot, view: view, environment: environment, context: context)
                return (recovery, state.user.value.login, snapshot)
            } catch is ClassicRefusal {
                return nil
            }
        }
        guard let token, let (recovery, login, snapshot) = found else { return HostedAnswer(.refused(HostedRefusal(.link))) }
        var answer = HostedAnswer(
            .page(
                HostedPage(
                    content: .recoveryLink(recovery.kind.page, login: login), notice: nil,
                    applicationName: snapshot.organization.name,
                    formToken: FormToken.make(browser: secret, transaction: Self.linkForm(token)), returnURI: snapshot.origin, locales: []))
        )
        if browser.possibleBrowser == nil { answer.cookies.browser = secret }
        return answer
    }

    /// Consumes a link. The recovery continues in this browser, which gets a new secret.
    ///
    /// - Parameters:
    ///   - token: The link's secret; nil if the browser brought none.
    ///   - formToken: What the form carried.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: Where the browser goes.
    /// - Throws: ``StoreError`` if the store failed.
    public func openRecoveryLink(
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
        switch try await exchange(Self.kind(of: token), token, for: stateToken, browser: (secret, bound), context: context, { _ in }) {
        case .success:
            var answer = HostedAnswer(.recovery(.page(token: stateToken)))
            answer.cookies.signIn = bound
            return answer
        case .failure: return HostedAnswer(.refused(HostedRefusal(.link)))
        }
    }
}

extension ClassicRecovery.Kind {
    /// What its pages say.
    var page: RecoveryKind {
        switch self {
        case .password: .password
        case .unlock: .unlock
        case .activation: .activation
        }
    }
}
