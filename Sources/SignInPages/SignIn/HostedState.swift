internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import Store

/// A sign-in on the pages, with the data of one read for the browser that sent the request.
struct HostedState: Sendable {
    /// The token in the address of the page.
    let token: String
    let context: RequestContext
    /// The engine, for its source of random bytes and its in-memory counters.
    let engine: Engine
    let stored: StoredTransaction
    let hosted: HostedSignIn
    let authorization: Authorization
    /// The secret by which the browser continues, and to which its forms are bound.
    package let browser: String
    /// Whether the browser may continue; `false` if the sign-in has a proof and the browser has only the secret from before it.
    let isBound: Bool
    let secrets: BrowserSecrets
    let snapshot: OrgSnapshot
    let application: Application
    let server: AuthorizationServerDefinition
    /// The user; `nil` before the first proof.
    let user: StoredUser?
    let subject: SignInTransaction.Subject?
    /// The usable enrollments of the user.
    let enrollments: [Enrollment]
    /// All enrollments of the user, including pending ones.
    let held: [Enrollment]
    /// The enrollment of the device that approved the challenge; `nil` for none.
    let approver: Enrollment?
    /// The session of the last authorization code; before the first code, the open session of the browser, which can belong to another
    /// user. `nil` for none.
    let session: Session?
    /// The open session that this sign-in started or continued; `nil` for none.
    let ownSession: Session?
    /// Whether the user must still be asked for their consent.
    let needsConsent: Bool
    /// The stored consent; `nil` for none, or if it cannot be needed.
    let consent: Consent?
    /// The enrollment that awaits its first code or the user's confirmation; `nil` for none.
    let pending: Enrollment?
    /// The transaction of the device that waits for this sign-in; `nil` for none.
    let waitingDevice: StoredTransaction?

    var transaction: SignInTransaction { stored.value }
    var request: AuthorizationRequest { authorization.request }
    var now: Date { context.now }

    /// Reads the sign-in that the address of a page names; throws ``EarlyAnswer`` if it does not continue in this browser. `mayProveAgain`
    /// also accepts a browser that has only the secret from before the first proof, because the response to its proof may be lost. An
    /// attacker may have that secret too, so ``isBound`` is `false` then.
    init<Verdict>(
        _ token: String, browser: BrowserSecrets, mayProveAgain: Bool = false, _ reading: Reading<Verdict>, context: RequestContext
    ) throws {
        let (now, view, snapshot) = (context.now, reading.view, try reading.snapshot)
        guard token.utf8.count <= 64, case (let stored, .fresh)? = try view.transaction(.stateToken, secret: token, now: now),
            let hosted = stored.value.hosted, let authorization = stored.value.authorization
        else { throw EarlyAnswer(.over) }
        let bound = hosted.browser.secret(of: browser)
        guard let secret = bound ?? (mayProveAgain ? hosted.browser.startSecret(of: browser) : nil) else {
            throw EarlyAnswer(.otherBrowser)
        }
        (isBound, secrets) = (bound != nil, browser)
        guard let application = snapshot.application(stored.value.applicationID), application.isActive,
            let server = snapshot.server(stored.value.server)
        else { throw EarlyAnswer(.over) }
        let code = try authorization.code.map { try view.ticket(.authorizationCode, digest: TicketDigest(bytes: $0), now: now) }
        if let code, !code.isFresh { throw EarlyAnswer(.finished) }
        // A code whose response was lost can be replaced until the first code expires.
        if let first = authorization.firstCodeAt, now >= first.addingTimeInterval(HostedSignIn.codeLifetime) {
            throw EarlyAnswer(.finished)
        }
        guard now < stored.value.expiresAt else { throw EarlyAnswer(.over) }
        // The proofs of a session count only while it is open, and a sign-in does not outlive the session that it started.
        let own = try stored.value.sessionID.flatMap { try view.openSession(id: $0, now: now)?.0 }
        if stored.value.sessionID != nil, own == nil { throw EarlyAnswer(.over) }
        (self.token, self.context, engine) = (token, context, reading.engine)
        (self.stored, self.hosted, self.authorization, self.browser, self.snapshot) = (stored, hosted, authorization, secret, snapshot)
        (self.application, self.server, ownSession) = (application, server, own)
        user = try stored.value.userID.flatMap { try view.record(.user, id: $0) }.map(StoredUser.init)
        if stored.value.userID != nil {
            guard let user, stored.value.isAbout(user.value), user.value.status == .active else { throw EarlyAnswer(.over) }
        }
        subject = try user.flatMap { try view.subject($0.value, of: stored.value, snapshot: snapshot, from: context) }
        held = subject?.enrollments.all ?? []
        enrollments = subject?.enrollments.usable ?? []
        // Proofs do not count if their factor was removed, and those of the session also if they became too old.
        let age = [authorization.request.maxAge, subject?.decision.reauthenticateAfter].compactMap { $0 }.min()
        let inherited = Array(stored.value.proofs.prefix(stored.value.inherited))
        let proofs = stored.value.end == nil ? stored.value.proofs : inherited
        guard inherited.recent(atMost: age, now: now).count == inherited.count,
            proofs.proved(with: subject?.enrollments ?? UserEnrollments()).count == proofs.count
        else { throw EarlyAnswer(.over) }
        waitingDevice = try hosted.device.flatMap { try view.waiting($0, now: now) }
        pending = try hosted.setupEnrollmentID.flatMap { try view.record(.enrollment, id: $0) }.map(Enrollment.init)
        approver = subject?.enrollments.approver(of: stored.value)
        let present = try view.session(secret: browser.session, now: now)?.0
        if authorization.code != nil {
            // The browser may not have received the secret of the session. It must not replace a later session.
            guard present == nil || present?.id == own?.id else { throw EarlyAnswer(.finished) }
            session = own
        } else {
            session = present
        }
        // Without a proof of this sign-in, the session alone would answer.
        let isSilent = hosted.device == nil && stored.value.inherited > 0 && stored.value.proofs.count == stored.value.inherited
        let needsConfirmation = isSilent && application.needsConfirmation(of: authorization.request, in: own?.id)
        let mayAsk = needsConfirmation || application.consent == .required || authorization.request.prompts.contains(.consent)
        guard hosted.isAllowed != true, mayAsk else {
            (consent, needsConsent) = (nil, false)
            return
        }
        consent = try user.flatMap { try view.consent(of: $0.value.id, to: authorization.request) }
        needsConsent =
            needsConfirmation || user != nil && authorization.request.needsConsent(by: application, beyond: consent)
    }

    /// Whether a form belongs to a page from before the first proof. A repeated submission leads to the current state of the sign-in.
    func isEarlierForm(_ token: String?) -> Bool {
        hosted.browser.startSecret(of: secrets).map { FormToken.isRight(token, browser: $0, transaction: transaction.id) } ?? false
    }

    /// Returns the proved sign-in with the next state of the transaction.
    func proved(
        _ next: SignInTransaction, _ user: StoredUser, _ writes: Writes = Writes(), isUserChanged: Bool = false
    ) -> ProvedSignIn {
        ProvedSignIn(
            transaction: next, version: stored.version, user: user, session: session, snapshot: snapshot, server: server, writes: writes,
            isUserChanged: isUserChanged)
    }

    /// Returns the response to the client after a refusal; `nil` for an unknown error code.
    func response(_ refused: HostedSignIn.Refused) -> AuthorizationResponse? {
        Refusal.Code(wireName: refused.error).map {
            AuthorizationResponse(
                Refusal($0, refused.description, reason: "sign-in was refused"), to: authorization.request,
                issuer: snapshot.issuer(of: server))
        }
    }

    /// The scopes of the request, with the descriptions of the server.
    var requestedScopes: [HostedScope] {
        authorization.request.scopes.map { name in
            HostedScope(name: name, description: server.scopes.first { $0.name == name }?.description)
        }
    }

    var onward: HostedAnswer { HostedAnswer(.redirect(token: token)) }

    /// Returns the plan that writes the next state of the transaction. Its answer is `answer`, or the redirect to the page.
    func moving(to next: SignInTransaction, _ writes: Writes = Writes(), answer: HostedAnswer? = nil) throws -> Plan<HostedAnswer> {
        Plan(answer ?? onward, writes + [try stored.writing(next)])
    }

    func page(_ content: HostedPage.Content, notice: HostedSignIn.Notice? = nil) -> HostedAnswer {
        HostedAnswer(
            .page(
                HostedPage(
                    content: content, notice: notice ?? hosted.notice(at: now), applicationName: application.name,
                    formToken: FormToken.make(browser: browser, transaction: transaction.id),
                    returnURI: authorization.request.redirectURI, locales: authorization.request.locales)))
    }
}

/// An error that ends a request of the pages with an answer, and without any write.
struct EarlyAnswer: Error {
    let answer: HostedAnswer

    init(_ answer: HostedAnswer) { self.answer = answer }
    init(_ reason: HostedRefusal.Reason) { answer = HostedAnswer(.refused(HostedRefusal(reason))) }
}

extension Engine {
    /// Counts a sign-in that starts on the pages; throws ``EarlyAnswer`` over the limit of its address.
    func admitBeginning(snapshot: OrgSnapshot, context: RequestContext) throws(EarlyAnswer) {
        guard let limit = countBeginning(snapshot: snapshot, context: context) else { return }
        throw EarlyAnswer(HostedAnswer(.refused(HostedRefusal(tooMany: limit))))
    }
}

extension HostedAnswer {
    /// Creates the answer that `body` returns, or that of the ``EarlyAnswer`` that it throws.
    init(_ body: () async throws -> HostedAnswer) async throws {
        do { self = try await body() } catch let early as EarlyAnswer { self = early.answer }
    }
}

extension TicketState {
    fileprivate var isFresh: Bool { if case .fresh = self { true } else { false } }
}

extension SignInTransaction {
    /// Whether a device approved, and the approval is not among the proofs yet.
    var hasUncountedApproval: Bool {
        guard let challenge, case .approved = challenge.state else { return false }
        return countedChallenge != challengeCount
    }
}
