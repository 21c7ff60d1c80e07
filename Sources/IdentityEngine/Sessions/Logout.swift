internal import Foundation

extension IdentityEngine {
    /// Signs a person out of their browser (OpenID Connect RP-Initiated Logout 1.0; oauth reference 2.13).
    ///
    /// Who brings an id token of the person that the browser's session is about proves to be an application that they signed in to:
    /// the session ends at once. Everybody else is asked, by a form that only this browser's page carries, so that no other site signs
    /// people out. Tokens are not revoked, but for those of a device secret that is sent along; a code that was not exchanged yet is
    /// worth nothing once its session is over.
    ///
    /// - Parameters:
    ///   - parameters: What was sent, unchecked.
    ///   - formToken: What the page's form carried; nil for a request that is not that form.
    ///   - server: The authorization server's id; nil for the org server.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: Where the browser goes.
    /// - Throws: ``StoreError`` if the store failed; then nothing ended.
    public func logout(
        _ parameters: AuthorizationParameters, formToken: String? = nil, server: String?, browser: BrowserSecrets,
        context: RequestContext
    ) async throws -> LogoutAnswer {
        for _ in 0..<Self.attempts {
            switch try await logoutState(parameters, server: server, browser: browser, context: context) {
            case .failure(let refusal): return LogoutAnswer(.refused(HostedRefusal(.badRequest, detail: refusal)))
            case .success(let state):
                if let digest = state.deviceSecret {
                    // Who has the secret proves that it is theirs to end, whatever becomes of the browser.
                    try await revokeDeviceSecret(digest, clientID: state.request.application?.id, server: server, context: context)
                }
                if state.mustAsk, let secret = browser.session, let own = state.own {
                    guard let formToken else { return LogoutAnswer(.confirm(state.question(secret: secret, of: own))) }
                    guard FormToken.isRight(formToken, browser: secret, transaction: own.logoutForm) else {
                        return LogoutAnswer(.refused(HostedRefusal(.otherBrowser)))
                    }
                }
                let logouts = try state.ending.flatMap {
                    try backchannelLogouts(of: SessionSummary($0), snapshot: state.snapshot, now: context.now)
                }
                if try await end(state, server: server, context: context) {
                    var answer = LogoutAnswer(
                        state.request.location.map { .goOn(to: $0) } ?? .signedOut, endsCookie: browser.session != nil)
                    answer.logouts = logouts
                    return answer
                }
            }
        }
        throw StoreError(.unavailable, "The sign-out met other writers \(Self.attempts) times. Try it again.")
    }

    private func logoutState(
        _ parameters: AuthorizationParameters, server id: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> Result<LogoutState, Refusal> {
        try await store.read { [self] view in
            do {
                let snapshot = try snapshot(view)
                let server = try snapshot.knownServer(id)
                let request = try LogoutRequest(parameters, snapshot: snapshot, server: server, now: context.now)
                return .success(
                    try LogoutState(request, snapshot: snapshot, server: id, browser: browser, view: view, now: context.now))
            } catch let refusal as Refusal {
                return .failure(refusal)
            }
        }
    }

    /// - Returns: False if somebody else was faster.
    private func end(_ state: LogoutState, server: String?, context: RequestContext) async throws -> Bool {
        var changes: [Change] = []
        for session in state.ending {
            changes += [
                .remove(.session, id: session.id, version: session.version),
                try logEntry(
                    "user.session.end", .success, reason: state.request.application == nil ? "signed out" : "signed out by the application",
                    userID: session.userID, clientID: state.request.application?.id, server: server, context: context),
            ]
        }
        guard !changes.isEmpty else { return true }
        return try await store.commit(changes) == .committed
    }
}

/// What a request to sign out finds.
private struct LogoutState: Sendable {
    let request: LogoutRequest
    let snapshot: OrgSnapshot
    /// The browser's open session.
    let own: Session?
    /// Another session that the id token belongs to: of a form that another site posted, the browser sends no cookie along.
    let hinted: Session?
    /// Whether the hint is about the browser's session: an old id token, or that of another device, speaks for nobody here.
    private let isHinted: Bool
    /// A device's secret that ends, whatever it gave with it.
    let deviceSecret: TicketDigest?

    init(
        _ request: LogoutRequest, snapshot: OrgSnapshot, server: String?, browser: BrowserSecrets, view: any StoreView, now: Date
    ) throws {
        self.request = request
        self.snapshot = snapshot
        let own = try view.session(secret: browser.session, now: now)?.0
        self.own = own
        isHinted = own.map { $0.userID == request.hint?.userID && $0.id == request.hint?.sessionID } ?? false
        let digest = request.deviceSecret.map { TicketDigest(of: $0) }
        if let digest, let hint = request.hint, let grant = try view.openGrants(by: digest).first,
            grant.userID != hint.userID || grant.sessionID != hint.sessionID
        {
            throw Refusal(
                .invalidRequest, "The device_secret does not belong to the id_token_hint.", reason: "logout: device_secret and hint")
        }
        deviceSecret = digest
        let client = request.application.map { Session.Client(id: $0.id, server: server) }
        hinted = try request.hint.flatMap { hint in
            guard let id = hint.sessionID, id != own?.id, let session = try view.openSession(id: id, now: now)?.0,
                session.userID == hint.userID, let client, session.clients.contains(client)
            else { return nil }
            return session
        }
    }

    /// Whether somebody is signed in whom nobody proved to speak for.
    var mustAsk: Bool { own != nil && !isHinted }

    /// The sessions that end.
    var ending: [Session] { [own, hinted].compactMap { $0 } }

    func question(secret: String, of session: Session) -> LogoutQuestion {
        LogoutQuestion(
            applicationName: request.application?.name,
            formToken: FormToken.make(browser: secret, transaction: session.logoutForm), parameters: request.repeated,
            returnURI: request.returnURI, locales: request.locales)
    }
}

extension Session {
    /// What the token of the form that ends it is about.
    fileprivate var logoutForm: String { "logout \(id)" }
}
