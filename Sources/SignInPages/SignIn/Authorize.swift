internal import Foundation
package import IdentityCore
internal import OAuthWire
internal import Store

extension Engine {
    /// Answers a request to the authorize endpoint (RFC 6749 section 3.1; Documentation/Protocol/OAuth.md §2.3). A session or one-time
    /// token with enough recent proofs gets a code at once. Otherwise the browser gets a page, or the client an error if it sent
    /// `prompt=none`.
    /// - Parameters:
    ///   - parameters: The unchecked parameters of the client, or the `request_uri` of a pushed request.
    ///   - server: The authorization server's id; `nil` for the org server.
    ///   - isForm: Whether the request is a posted form, which another site may have sent.
    package func authorize(
        _ parameters: AuthorizationParameters, server: String?, isForm: Bool = false, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        try await HostedAnswer {
            try await transact(
                context, lookup: { _ in AuthorizeStart.lookup(parameters, isForm: isForm, browser: browser) }
            ) { (reading: Reading<Void>) in
                do {
                    var start = try AuthorizeStart(parameters, server: server, browser: browser, reading, context: context)
                    // The cookies are not read from a posted form, but from the request after the redirect.
                    if isForm { start.next = .link } else { try start.identify(reading.view) }
                    return start
                } catch let refusal as AuthorizationRefusal {
                    throw EarlyAnswer(refusal.answer)
                }
            } check: { start in
                start.check
            } decide: { start, _ in
                try start.plan()
            }
        }
    }

    /// Binds a sign-in to the browser that completed a proof, and returns the browser's new secret.
    func bind(_ transaction: inout SignInTransaction) throws -> String {
        let secret = try environment.random.secret()
        transaction.hosted?.browser.bind(to: secret)
        return secret
    }
}

/// A valid authorize request, with the data of one read.
private struct AuthorizeStart: Sendable {
    enum Next: Sendable {
        /// Redirects a posted form to the same request as a link. Browsers send no cookies with a form of another site, and a new cookie
        /// would replace the one of their pending sign-ins.
        case link
        /// Starts a sign-in, and redirects to its page.
        case page
        /// Issues the code at once: the user has proved everything that the request requires.
        case code(KnownUser)
        case refused(Refusal)
    }

    let engine: Engine
    let context: RequestContext
    package let browser: BrowserSecrets
    let snapshot: OrgSnapshot
    let server: AuthorizationServerDefinition
    let request: AuthorizationRequest
    let application: Application
    /// The writes that consume the pushed request or the session token, and the log events of the first step.
    var writes = Writes()
    /// The secret of the browser; a new one if the browser has none.
    let secret: String
    let signIn: SignInRequest
    var transaction: SignInTransaction
    /// The open session of the browser, which can belong to another user; `nil` for none.
    var session: Session?
    var next = Next.page

    /// The rows of the pushed request, of the browser's session, and of the session token. Undeclared are the session token in a pushed
    /// request, and the consent, whose id is a digest.
    static func lookup(_ parameters: AuthorizationParameters, isForm: Bool, browser: BrowserSecrets) -> Lookup {
        let pushed = parameters.values["request_uri"].flatMap(PushedRequest.digest).map { Lookup.Node.ticket(.pushedRequest, $0) }
        guard !isForm else { return Lookup([pushed].compactMap(\.self)) }
        let token = parameters.values["sessionToken"].map { Lookup.Node.signIn(.sessionToken, secret: $0) }
        return Lookup([pushed, token].compactMap(\.self) + Lookup.Node.session(of: browser, .factors))
    }

    /// Reads the request, or the pushed request that it names; throws ``AuthorizationRefusal``.
    init(
        _ parameters: AuthorizationParameters, server id: String?, browser: BrowserSecrets, _ reading: Reading<Void>,
        context: RequestContext
    ) throws {
        let snapshot = try reading.snapshot
        guard let server = snapshot.server(id) else {
            throw AuthorizationRefusal.page(Refusal(.notFound, "There is no such authorization server.", reason: "server.unknown"))
        }
        if let uri = parameters.values["request_uri"] {
            let found = try PushedRequest.find(
                uri, clientID: parameters.values["client_id"], snapshot: snapshot, server: server, view: reading.view, now: context.now)
            guard let found, parameters.repeated.isDisjoint(with: ["client_id", "request_uri"]) else {
                throw AuthorizationRefusal.page(
                    Refusal(
                        .invalidRequestURI, "The application's request is not known here, too old, or was used before.",
                        reason: "authorize: request_uri"))
            }
            request = found.request
            writes += [found.taking]
        } else {
            request = try AuthorizationRequestReader(snapshot: snapshot, server: server, now: context.now).read(parameters)
        }
        guard let application = snapshot.application(request.clientID) else {
            throw AuthorizationRefusal.page(Refusal(.invalidClient, "The application is not known.", reason: "authorize: client_id"))
        }
        (engine, self.context, self.browser) = (reading.engine, context, browser)
        (self.snapshot, self.server, self.application) = (snapshot, server, application)
        let random = reading.engine.environment.random
        secret = try browser.possibleBrowser ?? random.secret()
        signIn = SignInRequest(
            onPagesOf: application, server: request.server, scopes: request.scopes, contextClasses: request.contextClasses)
        transaction = try SignInTransaction(
            signIn, answering: request, hosted: HostedSignIn(browser: BrowserBinding(secret), login: request.loginHint ?? ""),
            random: random, now: context.now)
    }

    /// Identifies the user by a one-time token or the browser's session, and takes the first step with the user's proofs.
    mutating func identify(_ view: any StoreView) throws {
        guard let known = try knownUser(view) else {
            next = next(nil, nil, needsConsent: false)
            return
        }
        let needsConsent = try view.needsConsent(of: known.user.value.id, to: request, by: application)
        if request.loginHint == nil { transaction.hosted?.login = known.user.value.login }
        let outcome = try resume(known)
        next = next(known, outcome, needsConsent: needsConsent)
    }

    private mutating func knownUser(_ view: any StoreView) throws -> KnownUser? {
        let now = context.now
        let known = try view.session(secret: browser.session, now: now)
        session = known?.0
        let isInteractive = !ScopeRequest.interactive.isDisjoint(with: request.scopes)
        let user: StoredUser
        let proofs: [SignInTransaction.Proof]
        if let bytes = request.sessionToken {
            let digest = TicketDigest(bytes: bytes)
            func refusal(_ description: String, _ reason: String) -> EarlyAnswer {
                EarlyAnswer(response(Refusal(.loginRequired, description, reason: reason)))
            }
            guard let proved = try SessionToken.proved(digest, in: view, now: now) else {
                throw refusal("The session token is unknown, too old, or was used before.", "authorize: sessionToken")
            }
            // A link of an attacker must not replace the user's session by the session of another user.
            guard known.map({ $0.1.value.id == proved.user.value.id }) ?? true else {
                throw refusal("Another user is signed in with this browser.", "authorize: sessionToken of another user")
            }
            writes += [.take(.sessionToken, digest: digest, now: now, gave: [])]
            (user, proofs) = (proved.user, proved.transaction.proofs)
        } else {
            guard let known else { return nil }
            // These scopes require a fresh sign-in; an existing session is not enough.
            (user, proofs) = (known.1, request.prompts.contains(.login) || isInteractive ? [] : known.0.proofs)
        }
        let subject = try view.subject(user.value, of: signIn, snapshot: snapshot)
        // A one-time token can contain proofs of different ages, such as an old password and a recent push.
        let mostForEnrollment = isInteractive ? Int(Enrollment.freshness) : nil
        let age = [request.maxAge, subject.decision.reauthenticateAfter, mostForEnrollment].compactMap { $0 }.min()
        return KnownUser(
            user: user, subject: subject, proofs: proofs.recent(atMost: age, now: now).proved(with: subject.enrollments))
    }

    /// Takes the first step with the user's proofs, and returns its outcome; `nil` without a proof.
    private mutating func resume(_ known: KnownUser) throws -> SignInTransaction.Outcome? {
        guard !known.proofs.isEmpty else { return nil }
        let (resumed, outcome, effects) = transaction.step(.resumed(known.proofs, known.subject), now: context.now)
        transaction = resumed
        transaction.record(outcome)
        if request.sessionToken != nil {
            // The proofs of a token never belonged to a session: they start one.
            transaction.inherited = 0
        } else if !transaction.proofs.isEmpty {
            transaction.sessionID = session?.id
        }
        writes += try Writes(effects, of: resumed, user: nil, userID: known.user.value.id)
        return outcome
    }

    private func next(_ known: KnownUser?, _ outcome: SignInTransaction.Outcome?, needsConsent: Bool) -> Next {
        switch outcome {
        case .authenticated:
            // A one-time token came from the client itself.
            let needsConfirmation = request.sessionToken == nil && application.needsConfirmation(of: request, in: session?.id)
            if let known, !needsConsent, !needsConfirmation { return .code(known) }
        case .refused(let refusal): return .refused(refusal)
        default: break
        }
        guard request.prompts.contains(.none) else { return .page }
        if transaction.end != nil, needsConsent {
            return .refused(
                Refusal(.consentRequired, "The user must consent to the requested scopes.", reason: "prompt=none: consent"))
        }
        return .refused(
            transaction.proofs.isEmpty
                ? Refusal(.loginRequired, "No session satisfies this request.", reason: "prompt=none: no session")
                : Refusal(.interactionRequired, "The user must complete another sign-in step.", reason: "prompt=none: more is asked for"))
    }

    /// Counts a new sign-in; `nil` if the request gets its response at once.
    var check: Check<Void>? {
        switch next {
        case .link, .page: Check(of: "beginning") { try engine.admitBeginning(snapshot: snapshot, context: context) }
        case .code, .refused: nil
        }
    }

    func plan() throws -> Plan<HostedAnswer> {
        let random = engine.environment.random
        switch next {
        case .refused(let refusal): return Plan(response(refusal), writes)
        case .code(let known):
            let proved = ProvedSignIn(
                transaction: transaction, version: 0, user: known.user, session: session, snapshot: snapshot, server: server,
                writes: writes)
            return try engine.finish(proved, context: context)
        case .link:
            let secret = try random.secret()
            let ticket = try PushedRequest.ticket(request, secret: secret, now: context.now)
            let answer = HostedAnswer(.restart(clientID: request.clientID, requestURI: PushedRequest.uri(secret)))
            return Plan(answer, writes + [.issue(ticket)])
        case .page:
            var transaction = transaction
            let token = try random.secret()
            var answer = HostedAnswer(.redirect(token: token))
            // Only this browser may continue with the proofs of the session.
            if transaction.proofs.isEmpty {
                try transaction.acceptPasskey(snapshot.pagePasskeys, random)
            } else {
                answer.cookies.signIn = try engine.bind(&transaction)
            }
            if browser.possibleBrowser == nil { answer.cookies.browser = secret }
            return Plan(answer, writes + [.put(try transaction.record()), .issue(transaction.stateTicket(token))])
        }
    }

    private func response(_ refusal: Refusal) -> HostedAnswer {
        HostedAnswer(.respond(AuthorizationResponse(refusal, to: request, issuer: snapshot.issuer(of: server))))
    }
}

/// The user that a request identifies, and the user's proofs for its application.
struct KnownUser: Sendable {
    var user: StoredUser
    var subject: SignInTransaction.Subject
    var proofs: [SignInTransaction.Proof]
}

extension AuthorizationRefusal {
    /// The error page, or the redirect to the client.
    fileprivate var answer: HostedAnswer {
        switch self {
        case .page(let refusal): HostedAnswer(.refused(HostedRefusal(.badRequest, detail: refusal)))
        case .client(_, let response): HostedAnswer(.respond(response))
        }
    }
}

extension [SignInTransaction.Proof] {
    /// Returns the proofs that are younger than `age` seconds; all proofs if `age` is `nil`.
    func recent(atMost age: Int?, now: Date) -> Self {
        guard let age else { return self }
        return filter { $0.time > now.addingTimeInterval(-TimeInterval(age)) && !$0.time.isFromFuture(of: now) }
    }

    /// Returns the proofs whose enrollment the user still has. Proofs without an enrollment, such as the password, are included.
    func proved(with enrollments: UserEnrollments) -> Self {
        filter { proof in proof.enrollmentID.map(enrollments.containsProof) ?? true }
    }
}

extension SignInTransaction {
    /// Returns the ticket of the token in the address of a page. The token is useless without the browser's secret.
    func stateTicket(_ token: String) -> Ticket {
        Ticket(
            kind: .stateToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, id), use: .untilClosed,
            expiresAt: expiresAt.addingTimeInterval(Self.keptAfter))
    }
}
