internal import Foundation
package import IdentityCore
internal import OAuthWire
internal import Store

extension Engine {
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
    package func logout(
        _ parameters: AuthorizationParameters, formToken: String? = nil, server: String?, browser: BrowserSecrets,
        context: RequestContext
    ) async throws -> LogoutAnswer {
        let result = try await transact(context, refusing: Refusal.self) { reading in
            let snapshot = try reading.snapshot
            let request = try LogoutRequest(
                parameters, snapshot: snapshot, server: snapshot.knownServer(server), now: context.now)
            return try LogoutState(request, snapshot: snapshot, server: server, browser: browser, view: reading.view, now: context.now)
        } decide: { state in
            // A client that has the device secret may end it, whatever becomes of the browser's session.
            let secret = state.revocation(now: context.now)
            if let answer = state.objection(formToken: formToken, browser: browser) { return Plan(.success((answer, state)), secret) }
            var answer = LogoutAnswer(state.request.location.map { .goOn(to: $0) } ?? .signedOut, endsCookie: browser.session != nil)
            answer.logouts = try state.ending.flatMap {
                try backchannelLogouts(of: SessionSummary($0), snapshot: state.snapshot, now: context.now)
            }
            return Plan(.success((answer, state)), secret + state.end())
        }
        switch result {
        case .failure(let refusal): return LogoutAnswer(.refused(HostedRefusal(.badRequest, detail: refusal)))
        case .success((let answer, let state)):
            if let digest = state.deviceSecret, state.deviceGrants.count == DeviceSecret.most {
                try await revokeDeviceSecret(digest, clientID: state.request.application?.id, server: server, context: context)
            }
            return answer
        }
    }
}

/// A request to sign out as one read finds it.
private struct LogoutState: Sendable {
    let request: LogoutRequest
    let snapshot: OrgSnapshot
    /// The browser's open session.
    let own: Session?
    /// Another session that the id token belongs to: of a form that another site posted, the browser sends no cookie along.
    let hinted: Session?
    /// Whether the hint is about the browser's session: an old id token, or that of another device, speaks for nobody here.
    private let isHinted: Bool
    /// A device secret that ends.
    let deviceSecret: TicketDigest?
    /// The open grants of the device secret, at most ``DeviceSecret/most``.
    let deviceGrants: [Grant]
    private let server: String?

    init(
        _ request: LogoutRequest, snapshot: OrgSnapshot, server: String?, browser: BrowserSecrets, view: any StoreView, now: Date
    ) throws {
        self.request = request
        self.snapshot = snapshot
        let own = try view.session(secret: browser.session, now: now)?.0
        self.own = own
        isHinted = own.map { $0.userID == request.hint?.userID && $0.id == request.hint?.sessionID } ?? false
        let digest = request.deviceSecret.map { TicketDigest(of: $0) }
        let grants = try digest.map(view.openGrants) ?? []
        if let hint = request.hint, let grant = grants.first,
            grant.userID != hint.userID || grant.sessionID != hint.sessionID
        {
            throw Refusal(
                .invalidRequest, "The device_secret does not belong to the id_token_hint.", reason: "logout: device_secret and hint")
        }
        (deviceSecret, self.server) = (digest, server)
        deviceGrants = grants.filter { $0.server == server }
        let client = request.application.map { Session.Client(id: $0.id, server: server) }
        hinted = try request.hint.flatMap { hint in
            guard let id = hint.sessionID, id != own?.id, let session = try view.openSession(id: id, now: now)?.0,
                session.userID == hint.userID, let client, session.clients.contains(client)
            else { return nil }
            return session
        }
    }

    /// Returns the confirmation page, or the refusal of its form; `nil` if the request may end the browser's session.
    func objection(formToken: String?, browser: BrowserSecrets) -> LogoutAnswer? {
        guard !isHinted, let own, let secret = browser.session else { return nil }
        guard let formToken else { return LogoutAnswer(.confirm(question(secret: secret, of: own))) }
        let isRight = FormToken.isRight(formToken, browser: secret, transaction: own.logoutForm)
        return isRight ? nil : LogoutAnswer(.refused(HostedRefusal(.otherBrowser)))
    }

    /// The writes that end the device secret with its grants.
    func revocation(now: Date) -> Writes {
        guard let deviceSecret else { return Writes() }
        return DeviceSecret.revocation(deviceSecret, of: deviceGrants, clientID: request.application?.id, server: server, now: now)
    }

    /// The sessions that end.
    var ending: [Session] { [own, hinted].compactMap { $0 } }

    /// The writes that end the sessions.
    func end() -> Writes {
        let reason = request.application == nil ? "signed out" : "signed out by the application"
        return ending.reduce(Writes()) { $0 + $1.ending(reason: reason, clientID: request.application?.id, server: server) }
    }

    private func question(secret: String, of session: Session) -> LogoutQuestion {
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
