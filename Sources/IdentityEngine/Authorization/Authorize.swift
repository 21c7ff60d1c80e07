internal import Foundation

extension IdentityEngine {
    /// Answers a request to the authorize endpoint (RFC 6749 section 3.1; oauth reference 2.3).
    ///
    /// Whoever proved enough with the browser's session gets the code at once; everybody else a page. What was begun or given is
    /// committed before this returns.
    ///
    /// - Parameters:
    ///   - parameters: What the client sent, unchecked; or the name of what it pushed.
    ///   - server: The authorization server's id; nil for the org server.
    ///   - isForm: Whether it came as a form, which another site may have sent.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: Where the browser goes, and its cookies.
    /// - Throws: ``StoreError`` if the store failed; then nothing was begun.
    public func authorize(
        _ parameters: AuthorizationParameters, server: String?, isForm: Bool = false, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        for _ in 0..<Self.attempts {
            let start = try await store.read { [self] in
                // A form only becomes a link: who comes with it is asked then, and what is good once stays good.
                try HostedStart(
                    parameters, server: server, browser: isForm ? nil : browser, snapshot: snapshot($0), view: $0, now: context.now)
            }
            switch start {
            case .refused(.page(let refusal)): return HostedAnswer(.refused(HostedRefusal(.badRequest, detail: refusal)))
            case .refused(.client(_, let response)): return HostedAnswer(.respond(response))
            case .request(let begun):
                let answer =
                    isForm ? try await sendAgain(begun, context: context) : try await begin(begun, browser: browser, context: context)
                if let answer { return answer }
            }
        }
        throw StoreError(.unavailable, "The request met other writers \(Self.attempts) times. Try it again.")
    }

    /// Sends a browser that posted a form to the same request by a link: a form of another site comes without our cookies, and new ones
    /// in their place would part the browser from the sign-ins that it has under way.
    private func sendAgain(_ begun: HostedStart.Begun, context: RequestContext) async throws -> HostedAnswer? {
        if let refused = countBeginning(snapshot: begun.snapshot, context: context) { return refused }
        let secret = try environment.random.secret()
        let ticket = try PushedRequest.ticket(begun.request, secret: secret, now: context.now)
        guard try await store.commit(begun.changes + [.issue(ticket)]) == .committed else { return nil }
        return HostedAnswer(.again(clientID: begun.request.clientID, requestURI: PushedRequest.uri(secret)))
    }

    /// Begins the sign-in of a good request.
    ///
    /// - Returns: Nil if somebody else was faster.
    private func begin(_ begun: HostedStart.Begun, browser: BrowserSecrets, context: RequestContext) async throws -> HostedAnswer? {
        let request = begun.request
        let secret = try browser.possibleBrowser ?? environment.random.secret()
        var transaction = SignInTransaction(
            id: try environment.random.identifier(prefix: "txn"),
            request: SignInRequest(
                application: begun.application, server: request.server, scopes: request.scopes, contextClasses: request.contextClasses),
            now: context.now, lifetime: HostedSignIn.lifetime)
        transaction.hosted = HostedSignIn(
            request: request, browser: BrowserBinding(secret), login: request.loginHint ?? begun.held?.user.value.login ?? "")
        var changes = begun.changes
        func respond(_ refusal: Refusal) async throws -> HostedAnswer? {
            let response = AuthorizationResponse(refusal, to: request, issuer: begun.snapshot.issuer(of: begun.server))
            if !changes.isEmpty, try await store.commit(changes) != .committed { return nil }
            return HostedAnswer(.respond(response))
        }
        if let held = begun.held, !held.proofs.isEmpty {
            let (next, outcome, effects) = transaction.step(.resumed(held.proofs, held.subject), now: context.now)
            transaction = next
            // What a token proves was never a session's: it begins one.
            if held.isToken {
                transaction.hosted?.inherited = 0
            } else if !transaction.proofs.isEmpty {
                transaction.hosted?.session = begun.session?.id
            }
            changes += try logEntries(effects, userID: held.user.value.id, of: next, context: context)
            switch outcome {
            case .authenticated(let proved):
                transaction.hosted?.authentication = proved
                guard begun.needsConsent || begun.needsConfirmation else {
                    return try await finish(
                        .init(
                            transaction: transaction, version: 0, user: held.user, session: begun.session, snapshot: begun.snapshot,
                            server: begun.server, changes: changes), context: context)
                }
            case .refused(let refusal): return try await respond(refusal)
            case .factorRequired, .enrollmentRequired, .enrollmentOffered, .passwordDue, .recovering, .unlocked, .tryAgain, .challenged,
                .pending, .judged, .tooLate, .cancelled:
                break
            }
        }
        if request.prompts.contains(.none) {
            if transaction.end != nil, begun.needsConsent {
                return try await respond(
                    Refusal(.consentRequired, "The person must be asked whether they allow this.", reason: "prompt=none: consent"))
            }
            return try await respond(
                transaction.proofs.isEmpty
                    ? Refusal(.loginRequired, "Nobody is signed in whose sign-in is enough.", reason: "prompt=none: no session")
                    : Refusal(.interactionRequired, "The person must be asked for more.", reason: "prompt=none: more is asked for"))
        }
        if let refused = countBeginning(snapshot: begun.snapshot, context: context) { return refused }
        let token = try environment.random.secret()
        var answer = HostedAnswer(.goOn(token: token))
        // Only this browser may continue with what the session proved.
        if !transaction.proofs.isEmpty { answer.cookies.signIn = try bind(&transaction) }
        changes += [.put(try transaction.record()), .issue(transaction.stateTicket(token))]
        guard try await store.commit(changes) == .committed else { return nil }
        if browser.possibleBrowser == nil { answer.cookies.browser = secret }
        return answer
    }

    /// Binds a sign-in to the browser that completed a proof.
    ///
    /// - Returns: The new secret of the browser.
    func bind(_ transaction: inout SignInTransaction) throws -> String {
        let secret = try environment.random.secret()
        transaction.hosted?.browser.bind(to: secret)
        return secret
    }

    /// The lines of the system log among the effects of a step.
    func logEntries(
        _ effects: [SignInTransaction.Effect], userID: String?, of transaction: SignInTransaction, context: RequestContext
    ) throws -> [Change] {
        try effects.compactMap { effect in
            guard case .log(let type, let outcome, let reason) = effect else { return nil }
            return try logEntry(
                type, outcome, reason: reason, userID: userID, clientID: transaction.applicationID, server: transaction.server,
                context: context)
        }
    }
}

/// What a read finds of an authorize request.
enum HostedStart: Sendable {
    case refused(AuthorizationRefusal)
    case request(Begun)

    /// A good request, and who comes with it.
    struct Begun: Sendable {
        var request: AuthorizationRequest
        var application: Application
        var server: AuthorizationServerDefinition
        var snapshot: OrgSnapshot
        /// The browser's open session, whoever's it is.
        var session: Session?
        /// Who proved something before.
        var held: Held?
        /// Whether they must be asked what the client may have.
        var needsConsent = false
        /// Whether they must be asked if they meant the client.
        var needsConfirmation = false
        /// What it uses up.
        var changes: [Change] = []
    }

    /// Somebody, and what they prove to this application now.
    struct Held: Sendable {
        var user: StoredUser
        var subject: SignInTransaction.Subject
        var proofs: [SignInTransaction.Proof]
        /// Whether by a one-time token, not by the session.
        var isToken = false
    }

    init(
        _ parameters: AuthorizationParameters, server id: String?, browser: BrowserSecrets?, snapshot: OrgSnapshot,
        view: any StoreView, now: Date
    ) throws {
        do {
            var begun = try Begun(parameters, server: id, snapshot: snapshot, view: view, now: now)
            if let browser { try begun.hold(by: browser, view: view, now: now) }
            self = .request(begun)
        } catch let refusal as AuthorizationRefusal {
            self = .refused(refusal)
        }
    }
}

extension HostedStart.Begun {
    /// Reads the request, or finds the one that was pushed.
    fileprivate init(
        _ parameters: AuthorizationParameters, server id: String?, snapshot: OrgSnapshot, view: any StoreView, now: Date
    ) throws {
        guard let server = snapshot.server(id) else {
            throw AuthorizationRefusal.page(Refusal(.notFound, "There is no such authorization server.", reason: "server.unknown"))
        }
        let request: AuthorizationRequest
        if let uri = parameters.values["request_uri"] {
            let found = try HostedStart.pushed(
                uri, clientID: parameters.values["client_id"], snapshot: snapshot, server: server, view: view, now: now)
            guard let found, parameters.repeated.isDisjoint(with: ["client_id", "request_uri"]) else {
                throw AuthorizationRefusal.page(
                    Refusal(
                        .invalidRequestURI, "The application's request is not known here, too old, or was used before.",
                        reason: "authorize: request_uri"))
            }
            request = found.0
            changes = [found.1]
        } else {
            request = try AuthorizationRequestReader(snapshot: snapshot, server: server, now: now).read(parameters)
        }
        guard let application = snapshot.application(request.clientID) else {
            throw AuthorizationRefusal.page(Refusal(.invalidClient, "The application is not known.", reason: "authorize: client_id"))
        }
        (self.request, self.application, self.server, self.snapshot) = (request, application, server, snapshot)
    }

    /// Finds who comes with it: by a one-time token, or by the browser's session.
    fileprivate mutating func hold(by browser: BrowserSecrets, view: any StoreView, now: Date) throws {
        let known = try view.session(secret: browser.session, now: now)
        session = known?.0
        let isInteractive = !ScopeRequest.interactive.isDisjoint(with: request.scopes)
        let user: StoredUser
        let proofs: [SignInTransaction.Proof]
        if let bytes = request.sessionToken {
            let digest = TicketDigest(bytes: bytes)
            func refuse(_ description: String, _ reason: String) -> AuthorizationRefusal {
                let refusal = Refusal(.loginRequired, description, reason: reason)
                return .client(refusal, AuthorizationResponse(refusal, to: request, issuer: snapshot.issuer(of: server)))
            }
            guard let proved = try SessionToken.proved(digest, in: view, now: now) else {
                throw refuse("The session token is unknown, too old, or was used before.", "authorize: sessionToken")
            }
            // Whoever makes a browser follow a link must not turn somebody's session into another person's unseen.
            guard known.map({ $0.1.value.id == proved.user.value.id }) ?? true else {
                throw refuse("Somebody else is signed in with this browser.", "authorize: sessionToken of another person")
            }
            changes.append(.take(.sessionToken, digest: digest, now: now, gave: []))
            (user, proofs) = (proved.user, proved.transaction.proofs)
        } else {
            guard let known else { return }
            // What such a scope permits is for who signs in for it, not for who finds a session open.
            (user, proofs) = (known.1, request.prompts.contains(.login) || isInteractive ? [] : known.0.proofs)
        }
        var signIn = SignInRequest(
            application: application, server: request.server, scopes: request.scopes, contextClasses: request.contextClasses)
        signIn.isHosted = true
        signIn.isOnPages = true
        let subject = try view.subject(user.value, of: signIn, snapshot: snapshot)
        // A token may bring a password of an hour ago beside a push of just now.
        let mostForEnrollment = isInteractive ? Int(EnrollmentPermission.freshness) : nil
        let age = [request.maxAge, subject.decision.reauthenticateAfter, mostForEnrollment].compactMap { $0 }.min()
        held = HostedStart.Held(
            user: user, subject: subject, proofs: proofs.recent(atMost: age, now: now).proved(with: subject.enrollments.usable),
            isToken: request.sessionToken != nil)
        needsConsent = try view.needsConsent(of: user.value.id, to: request, by: application)
        // A one-time token was the client's to bring.
        needsConfirmation = request.sessionToken == nil && application.needsConfirmation(of: request, in: session?.id)
    }
}

extension [SignInTransaction.Proof] {
    /// Those that are no older than some seconds; all of them without a limit.
    func recent(atMost age: Int?, now: Date) -> Self {
        guard let age else { return self }
        return filter { $0.time > now.addingTimeInterval(-TimeInterval(age)) }
    }

    /// Those that were proved with what the person still has: what was taken away, or is distrusted, proves nothing any more.
    func proved(with enrollments: [Enrollment]) -> Self {
        filter { proof in proof.enrollmentID.map { id in enrollments.contains { $0.id == id } } ?? true }
    }
}

extension SignInTransaction {
    /// The ticket by which a page's address names it. It opens nothing without the browser's secret.
    func stateTicket(_ token: String) -> Ticket {
        Ticket(
            kind: .stateToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, id), use: .untilClosed,
            expiresAt: expiresAt.addingTimeInterval(Self.keptAfter))
    }
}
