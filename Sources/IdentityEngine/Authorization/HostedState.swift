internal import Foundation

/// A sign-in on the pages, as one read finds it for the browser that asks.
struct HostedState: Sendable {
    let stored: StoredTransaction
    let hosted: HostedSignIn
    /// The secret by which the browser continues, and to which its forms are bound.
    let browser: String
    /// Whether the browser may continue; `false` if the sign-in has a proof and the browser has only the secret from before it.
    let isBound: Bool
    /// The secrets of the browser.
    let secrets: BrowserSecrets
    let snapshot: OrgSnapshot
    /// When it was read.
    let now: Date
    let application: Application
    let server: AuthorizationServerDefinition
    /// Whom it is about, once somebody proved something.
    let user: StoredUser?
    let subject: SignInTransaction.Subject?
    /// What they can present now.
    let enrollments: [Enrollment]
    /// All that they have, those that wait among them.
    let held: [Enrollment]
    /// The enrolment whose device approved; written as it was, so that nobody closes it at the same moment unseen.
    let approver: Enrollment?
    /// The session that it gave a code by; before that the browser's open one, whoever's it is.
    let session: Session?
    /// Whether the person must still be asked what the client may have.
    let needsConsent: Bool
    /// What they allowed it before.
    let consent: Consent?
    /// The authenticator app that is being set up.
    let pending: Enrollment?
    /// The transaction of the device that waits for this sign-in.
    let waitingDevice: StoredTransaction?

    var transaction: SignInTransaction { stored.value }

    /// Finds the sign-in that a page's address names; throws ``HostedEnd`` if it does not go on in this browser.
    ///
    /// `mayProveAgain` also accepts a browser that has only the secret from before the first proof, because the response to its proof may be
    /// lost. An attacker may have that secret too, so ``isBound`` is `false` then.
    init(
        _ token: String, browser: BrowserSecrets, mayProveAgain: Bool = false, snapshot: OrgSnapshot, view: any StoreView,
        context: RequestContext
    ) throws {
        let now = context.now
        guard token.utf8.count <= 64, case (let stored, .fresh)? = try view.transaction(.stateToken, secret: token, now: now),
            let hosted = stored.value.hosted
        else { throw HostedEnd(.over) }
        let bound = hosted.browser.secret(of: browser)
        guard let secret = bound ?? (mayProveAgain ? hosted.browser.startSecret(of: browser) : nil) else { throw HostedEnd(.otherBrowser) }
        (isBound, secrets) = (bound != nil, browser)
        guard let application = snapshot.application(stored.value.applicationID), application.isActive,
            let server = snapshot.server(stored.value.server)
        else { throw HostedEnd(.over) }
        let code = try hosted.code.map { try view.ticket(.authorizationCode, digest: TicketDigest(bytes: $0), now: now) }
        // Given and used: whoever comes back to it is told so, also long after.
        if let code, !code.isFresh { throw HostedEnd(.finished) }
        // A code whose answer was lost is replaced as long as the first one could have been exchanged.
        if let first = hosted.firstCodeAt, now >= first.addingTimeInterval(HostedSignIn.codeLifetime) { throw HostedEnd(.finished) }
        guard now < stored.value.expiresAt else { throw HostedEnd(.over) }
        // What a session proved counts as long as it is open; and what began one goes no further than it.
        let own = try hosted.session.flatMap { try view.openSession(id: $0, now: now)?.0 }
        if hosted.session != nil, own == nil { throw HostedEnd(.over) }
        (self.stored, self.hosted, self.browser, self.snapshot, self.now) = (stored, hosted, secret, snapshot, now)
        (self.application, self.server) = (application, server)
        user = try stored.value.userID.flatMap { try view.record(.user, id: $0) }.map(StoredUser.init)
        if stored.value.userID != nil {
            guard let user, stored.value.isAbout(user.value), user.value.status == .active else { throw HostedEnd(.over) }
        }
        subject = try user.flatMap { try view.subject($0.value, of: stored.value, snapshot: snapshot, from: context) }
        held = subject?.enrollments.all ?? []
        enrollments = subject?.enrollments.usable ?? []
        if hosted.inherited > 0 {
            // What the session proved with something that was taken away since counts no more, nor what has become too old on the page.
            let inherited = Array(stored.value.proofs.prefix(hosted.inherited))
            let age = [hosted.request.maxAge, subject?.decision.reauthenticateAfter].compactMap { $0 }.min()
            guard inherited.recent(atMost: age, now: now).proved(with: enrollments).count == inherited.count else {
                throw HostedEnd(.over)
            }
        }
        waitingDevice = try hosted.device.flatMap { try view.waiting($0, now: now) }
        pending = try hosted.enrolling.flatMap { try view.record(.enrollment, id: $0) }.map(Enrollment.init)
        approver = subject?.enrollments.approver(of: stored.value)
        let present = try view.session(secret: browser.session, now: now)?.0
        if hosted.code != nil {
            // Its session goes on, whose secret may not have arrived, and no other begins; in place of a later one it does not come back.
            guard present == nil || present?.id == own?.id else { throw HostedEnd(.finished) }
            session = own
        } else {
            session = present
        }
        consent = try user.flatMap { try view.consent(of: $0.value.id, to: hosted.request) }
        // Nothing was typed or approved here: the session alone would answer.
        let isSilent = hosted.device == nil && hosted.inherited > 0 && stored.value.proofs.count == hosted.inherited
        needsConsent =
            try hosted.isAllowed != true
            && (isSilent && application.needsConfirmation(of: hosted.request, in: own?.id)
                || user.map { try view.needsConsent(of: $0.value.id, to: hosted.request, by: application) } ?? false)
    }

    /// Whether a form belongs to a page from before the first proof. A repeated submission leads to the current state of the sign-in.
    func isEarlierForm(_ token: String?) -> Bool {
        hosted.browser.startSecret(of: secrets).map { FormToken.isRight(token, browser: $0, transaction: transaction.id) } ?? false
    }

    /// What proved enough, for the next state of the transaction.
    func proved(
        _ next: SignInTransaction, _ user: StoredUser, changes: [Change] = [], isUserChanged: Bool = false
    ) -> ProvedSignIn {
        ProvedSignIn(
            transaction: next, version: stored.version, user: user, session: session, snapshot: snapshot, server: server, changes: changes,
            isUserChanged: isUserChanged)
    }

    /// The client's answer to a sign-in that was refused.
    func response(_ refused: HostedSignIn.Refused) -> AuthorizationResponse? {
        Refusal.Code(rawValue: refused.error).map {
            AuthorizationResponse(
                Refusal($0, refused.description, reason: "sign-in was refused"), to: hosted.request, issuer: snapshot.issuer(of: server))
        }
    }

    /// What the client asks for, with what the server says of it.
    var requestedScopes: [HostedScope] {
        hosted.request.scopes.map { name in HostedScope(name: name, description: server.scopes.first { $0.name == name }?.description) }
    }

    /// A page of it.
    func page(_ content: HostedPage.Content, notice: HostedSignIn.Notice? = nil) -> HostedAnswer {
        HostedAnswer(
            .page(
                HostedPage(
                    content: content, notice: (notice ?? hosted.notice(at: now)).flatMap { HostedPage.Notice(rawValue: $0.rawValue) },
                    applicationName: application.name, formToken: FormToken.make(browser: browser, transaction: transaction.id),
                    returnURI: hosted.request.redirectURI, locales: hosted.request.locales)))
    }
}

/// A sign-in does not go on here.
struct HostedEnd: Error {
    var reason: HostedRefusal.Reason

    init(_ reason: HostedRefusal.Reason) { self.reason = reason }
}

extension TicketState {
    fileprivate var isFresh: Bool { if case .fresh = self { true } else { false } }
}

extension SignInTransaction {
    /// Whether a device approved what is not yet among the proofs.
    var hasUncountedApproval: Bool {
        guard let challenge, case .approved = challenge.state else { return false }
        return hosted?.countedChallenge != challengeCount
    }

    /// Closes what leads to its challenge, and to nothing else of it.
    var closingChallenge: [Change] {
        (challenge?.targets ?? []).map { .close(.pushChallenge, digest: TicketDigest(of: $0.id)) }
            + (challengeTicket.map { [.close(.oobCode, digest: TicketDigest(bytes: $0))] } ?? [])
    }
}
