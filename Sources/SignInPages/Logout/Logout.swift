internal import Foundation
package import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

extension Engine {
    /// Signs the user out of the browser (OpenID Connect RP-Initiated Logout 1.0; Documentation/Protocol/OAuth.md §2.13). If the request
    /// has an ID token of the browser's session, the session ends at once. Otherwise the user must confirm by a form that only this
    /// browser's page contains, so that other sites cannot sign users out. Tokens are not revoked, except those of a device secret in the
    /// request. An authorization code that was not exchanged becomes invalid with its session.
    package func logout(
        _ parameters: AuthorizationParameters, formToken: String? = nil, server: String?, browser: BrowserSecrets,
        context: RequestContext
    ) async throws -> LogoutAnswer {
        let result = try await transact(context, refusing: Refusal.self) {
            LogoutState.lookup(parameters, browser: browser)
        } read: { reading in
            let snapshot = try reading.snapshot
            let request = try LogoutRequest(
                parameters, snapshot: snapshot, server: snapshot.knownServer(server), now: context.now)
            return try LogoutState(request, snapshot: snapshot, server: server, browser: browser, view: reading.view, now: context.now)
        } decide: { state in
            // A client that has the device secret may revoke it, whether or not the browser's session ends.
            let secret = state.revocation(now: context.now)
            if let answer = state.objection(formToken: formToken, browser: browser) { return Plan(.success((answer, state)), secret) }
            let answer = LogoutAnswer(state.request.location.map { .redirect(to: $0) } ?? .signedOut, endsCookie: browser.session != nil)
            var writes = secret + state.end()
            for session in state.ending { writes += backchannelLogouts(of: session, snapshot: state.snapshot, now: context.now) }
            return Plan(.success((answer, state)), writes)
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

/// A valid request to sign out, with the data of one read.
private struct LogoutState: Sendable {
    let request: LogoutRequest
    let snapshot: OrgSnapshot
    /// The browser's session; `nil` for none.
    let own: Session?
    /// The session of the ID token; `nil` if it is the browser's own. Browsers send no cookies with a form that another site posts, so that
    /// ``own`` can be `nil` although the user is signed in.
    let hinted: Session?
    /// Whether the ID token belongs to the browser's session. Only then may the request end this session without a confirmation.
    private let isHinted: Bool
    /// The device secret to revoke; `nil` for none.
    let deviceSecret: TicketDigest?
    /// The open grants of the device secret, at most ``DeviceSecret/most``.
    let deviceGrants: [Grant]
    private let server: String?

    /// The rows of the browser's session and of the device secret. Without a cookie, the session of the ID token, which is not verified
    /// here.
    static func lookup(_ parameters: AuthorizationParameters, browser: BrowserSecrets) -> Lookup {
        var nodes = Lookup.Node.session(of: browser)
        if nodes.isEmpty, let claims = try? JSONWebSignature(parsing: parameters.values["id_token_hint"] ?? "").unverifiedClaims(),
            let id = claims.json["sid"]?.stringValue
        {
            nodes.append(.record(.session, id: id, .named(.user, byKey: "user")))
        }
        if let secret = parameters.values["device_secret"] { nodes.append(DeviceSecret.grants(TicketDigest(of: secret))) }
        return Lookup(nodes)
    }

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

    /// Returns the confirmation page, or the refusal of an invalid form; `nil` if the request may end the browser's session.
    func objection(formToken: String?, browser: BrowserSecrets) -> LogoutAnswer? {
        guard !isHinted, let own, let secret = browser.session else { return nil }
        guard let formToken else { return LogoutAnswer(.confirm(question(secret: secret, of: own))) }
        let isRight = FormToken.isRight(formToken, browser: secret, transaction: own.logoutForm)
        return isRight ? nil : LogoutAnswer(.refused(HostedRefusal(.otherBrowser)))
    }

    /// Returns the writes that revoke the device secret and its grants; none without a device secret.
    func revocation(now: Date) -> Writes {
        guard let deviceSecret else { return Writes() }
        return DeviceSecret.revocation(deviceSecret, of: deviceGrants, clientID: request.application?.id, server: server, now: now)
    }

    var ending: [Session] { [own, hinted].compactMap { $0 } }

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
    /// The subject of the logout form's token.
    fileprivate var logoutForm: String { "logout \(id)" }
}
