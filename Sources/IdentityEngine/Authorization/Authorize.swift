internal import Foundation

extension IdentityEngine {
    /// Answers a request to the authorize endpoint (RFC 6749 section 3.1; oauth reference 2.3).
    ///
    /// Whoever proved enough with the browser's session gets the code at once; everybody else a page. What was begun or given is
    /// committed before this returns.
    ///
    /// - Parameters:
    ///   - parameters: What the client sent, unchecked.
    ///   - server: The authorization server's id; nil for the org server.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: Where the browser goes, and its cookies.
    /// - Throws: ``StoreError`` if the store failed; then nothing was begun.
    public func authorize(
        _ parameters: AuthorizationParameters, server: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        for _ in 0..<Self.attempts {
            let start = try await store.read { [self] in
                try HostedStart(parameters, server: server, browser: browser, snapshot: snapshot($0), view: $0, now: context.now)
            }
            switch start {
            case .refused(.page(let refusal)): return HostedAnswer(.refused(HostedRefusal(.badRequest, detail: refusal)))
            case .refused(.client(let response)): return HostedAnswer(.respond(response))
            case .request(let begun):
                if let answer = try await begin(begun, browser: browser, context: context) { return answer }
            }
        }
        throw StoreError(.unavailable, "The request met other writers \(Self.attempts) times. Try it again.")
    }

    /// Begins the sign-in of a good request.
    ///
    /// - Returns: Nil if somebody else was faster.
    private func begin(_ begun: HostedStart.Begun, browser: BrowserSecrets, context: RequestContext) async throws -> HostedAnswer? {
        let request = begun.request
        var hosted = HostedSignIn(
            request: request, browser: [], login: request.loginHint ?? begun.session?.user.value.login ?? "")
        let secret = try browser.possibleBrowser ?? environment.random.secret()
        hosted.browser = TicketDigest(of: secret).bytes
        var transaction = SignInTransaction(
            id: try environment.random.identifier(prefix: "txn"),
            request: SignInRequest(
                application: begun.application, server: request.server, scopes: request.scopes, contextClasses: request.contextClasses),
            now: context.now, lifetime: HostedSignIn.lifetime)
        transaction.hosted = hosted
        var changes: [Change] = []
        var isEnough = false
        if let session = begun.session, !session.proofs.isEmpty {
            transaction.hosted?.session = session.value.id
            let (next, outcome, effects) = transaction.step(.resumed(session.proofs, session.subject), now: context.now)
            transaction = next
            changes += try logEntries(effects, userID: session.user.value.id, of: next, context: context)
            switch outcome {
            case .authenticated(let proved):
                transaction.hosted?.authentication = proved
                isEnough = true
            case .factorRequired: break
            case .refused(let refusal):
                let response = AuthorizationResponse(refusal, to: request, issuer: begun.snapshot.issuer(of: begun.server))
                return try await store.commit(changes) == .committed ? HostedAnswer(.respond(response)) : nil
            case .tryAgain, .challenged, .pending, .judged, .tooLate, .cancelled: break
            }
        }
        if isEnough, let session = begun.session {
            return try await finish(
                .init(
                    transaction: transaction, version: 0, user: session.user, session: session.value, snapshot: begun.snapshot,
                    server: begun.server, changes: changes), context: context)
        }
        if request.prompts.contains(.none) {
            let refusal =
                transaction.proofs.isEmpty
                ? Refusal(.loginRequired, "Nobody is signed in whose sign-in is enough.", reason: "prompt=none: no session")
                : Refusal(.interactionRequired, "The person must be asked for more.", reason: "prompt=none: more is asked for")
            return HostedAnswer(.respond(AuthorizationResponse(refusal, to: request, issuer: begun.snapshot.issuer(of: begun.server))))
        }
        let token = try environment.random.secret()
        changes += [.put(try transaction.record()), .issue(transaction.stateTicket(token))]
        guard try await store.commit(changes) == .committed else { return nil }
        var answer = HostedAnswer(.goOn(token: token))
        if browser.possibleBrowser == nil { answer.cookies.browser = secret }
        return answer
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
        var session: Held?
    }

    /// The browser's session, and what it proves to this application now.
    struct Held: Sendable {
        var value: Session
        var user: StoredUser
        var subject: SignInTransaction.Subject
        var proofs: [SignInTransaction.Proof]
    }

    init(
        _ parameters: AuthorizationParameters, server id: String?, browser: BrowserSecrets, snapshot: OrgSnapshot, view: any StoreView,
        now: Date
    ) throws {
        guard let server = snapshot.server(id) else {
            self = .refused(.page(Refusal(.notFound, "There is no such authorization server.", reason: "server.unknown")))
            return
        }
        do throws(AuthorizationRefusal) {
            let request = try AuthorizationRequestReader(snapshot: snapshot, server: server, now: now).read(parameters)
            guard let application = snapshot.application(request.clientID) else {
                throw .page(Refusal(.invalidClient, "The application is not known.", reason: "authorize: client_id"))
            }
            self = .request(Begun(request: request, application: application, server: server, snapshot: snapshot))
        } catch {
            self = .refused(error)
            return
        }
        guard case .request(var begun) = self, let (session, user) = try view.session(secret: browser.session, now: now) else { return }
        var signIn = SignInRequest(
            application: begun.application, server: id, scopes: begun.request.scopes, contextClasses: begun.request.contextClasses)
        signIn.isHosted = true
        let subject = try view.subject(user.value, of: signIn, snapshot: snapshot)
        let age = [begun.request.maxAge, subject.decision.reauthenticateAfter].compactMap { $0 }.min()
        let proofs = begun.request.prompts.contains(.login) ? [] : session.proofs(atMost: age, now: now)
        begun.session = Held(value: session, user: user, subject: subject, proofs: proofs)
        self = .request(begun)
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
