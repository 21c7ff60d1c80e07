internal import Foundation

/// The beginning of a classic sign-in: a name and a password (authn reference 4.2).
extension IdentityEngine {
    /// Signs a person in by name and password, to the organization itself.
    ///
    /// As at the other doors: whatever keeps a person out before their password was right is answered alike and after the same time.
    /// Counters, log, the transaction and the token that it gives are committed before this returns.
    ///
    /// - Parameters:
    ///   - request: What the client sent.
    ///   - caller: Who calls.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal: `E0000004` for everything that keeps the person out, `E0000047` over a limit,
    ///   `E0000011` for an API token that is nobody's.
    /// - Throws: ``StoreError`` if the store failed; `CancellationError`.
    public func classicSignIn(
        _ request: ClassicRequest, caller: ClassicCaller, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        do {
            let snapshot = try await snapshot()
            let (policy, trusted) = try admit(caller, snapshot: snapshot)
            guard let application = snapshot.classicApplication else { throw ClassicRefusal.notEnabled }
            var signIn = SignInRequest(application: application, server: nil, scopes: [])
            signIn.isHosted = true
            var transaction = SignInTransaction(
                id: try environment.random.identifier(prefix: "txn"), request: signIn, now: context.now,
                lifetime: ClassicSignIn.idleLifetime)
            transaction.classic = ClassicSignIn(
                relayState: request.relayState, enrollsOptional: request.enrollsOptional, warnsBeforeExpiry: request.warnsBeforeExpiry,
                device: caller.device(isTrusted: trusted != nil).map { TicketDigest(of: $0).bytes },
                renewsDevice: caller.isPage && trusted == nil ? true : nil,
                autoPush: caller.autoPush.isEmpty ? nil : Array(caller.autoPush.prefix(ClassicSignIn.mostAutoPush)))
            return .success(
                try await classicSignIn(
                    transaction, username: request.username, password: request.password, application: application, policy: policy,
                    snapshot: snapshot, context: context))
        } catch let refusal as ClassicRefusal {
            return .failure(refusal)
        }
    }

    /// Who calls, and by which policy; throws ``ClassicRefusal`` if the API is off, or an API token is nobody's.
    func admit(
        _ caller: ClassicCaller, snapshot: OrgSnapshot
    ) throws(ClassicRefusal) -> (policy: ClassicPolicy, trusted: ClassicPolicy.TrustedCaller?) {
        guard let policy = snapshot.organization.classic else { throw .notEnabled }
        guard let token = caller.apiToken else { return (policy, nil) }
        guard let trusted = policy.caller(token: token) else { throw .invalidToken("authn: API token") }
        return (policy, trusted)
    }

    private func classicSignIn(
        _ transaction: SignInTransaction, username: String, password: String, application: Application, policy: ClassicPolicy,
        snapshot: OrgSnapshot, context: RequestContext
    ) async throws -> ClassicAnswer {
        let username = Self.possibleName(username)
        let device = transaction.classic?.renewsDevice == true ? nil : transaction.classic?.device
        let origin = RequestOrigin(context, application: application, device: device)
        let attempts = try await countFirstAttempt(login: username, from: origin, snapshot: snapshot, context: context)
        guard attempts.isAdmitted else {
            throw ClassicRefusal.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address")
        }
        let verifier = PasswordVerifier(environment: environment, origin: origin)
        do {
            let answer = try await judgeFirst(
                .password(password), of: username, transaction, readsEnrollments: false, snapshot: snapshot, context: context
            ) { _ in
                verifier
            } commit: { next, outcome, effects, account in
                try await commitFirst(
                    next, outcome, effects, account: account, from: origin, policy: policy, snapshot: snapshot, context: context)
            }
            guard let answer else {
                throw ClassicRefusal.tooManyRequests(nil, reason: "the account changed on every attempt to write it")
            }
            return try answer.get()
        } catch is PasswordHasher.Overloaded {
            throw ClassicRefusal.busy(context)
        }
    }

    /// Commits what the first step came to.
    ///
    /// - Returns: The answer; nil if somebody else wrote the user first.
    private func commitFirst(
        _ next: SignInTransaction, _ outcome: SignInTransaction.Outcome, _ effects: [SignInTransaction.Effect], account: NamedAccount,
        from origin: RequestOrigin, policy: ClassicPolicy, snapshot: OrgSnapshot, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal>? {
        let user = account.user
        var person = user
        var changes = try logEntries(effects, userID: next.userID, of: next, context: context)
        for case .writeUser(let changed) in effects {
            guard let user else { continue }
            changes.append(.put(try user.record(holding: changed)))
            person?.value = changed
        }
        if let person, case .authenticated = outcome {
            let (answer, own) = try classicSuccess(next, version: 0, user: person.value, context: context)
            return try await store.commit(changes + own) == .committed ? .success(answer) : nil
        }
        if case .refused(let refusal) = outcome {
            if !effects.writesUser { changes.append(try account.idleWrite()) }
            guard try await store.commit(changes) == .committed else { return nil }
            if policy.showsLockout, let person = person?.value, person.status == .active,
                person.isLocked(for: origin, policy: snapshot.passwordPolicy, now: context.now)
            {
                var shown = ClassicTransaction(.lockedOut)
                shown.relayState = next.classic?.relayState
                shown.next = .unlock
                return .success(ClassicAnswer(shown))
            }
            return .failure(.authenticationFailed(refusal.reason))
        }
        // More is asked for: what that is, is read like every later step.
        let token = try environment.random.secret(prefix: "00")
        let ticket = Ticket(
            kind: .stateToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, next.id), use: .untilClosed,
            expiresAt: next.createdAt.addingTimeInterval(ClassicSignIn.lifetime + SignInTransaction.keptAfter))
        guard try await store.commit(changes + [.put(try next.record()), .issue(ticket)]) == .committed else { return nil }
        return try await classicStep(token, context: context) { [self] state in
            try await show(state.transaction, of: state, context: context)
        }
    }

    /// The end of a classic sign-in: the one-time token, and what is written with it.
    func classicSuccess(
        _ transaction: SignInTransaction, version: Int64, user: User, context: RequestContext
    ) throws -> (ClassicAnswer, [Change]) {
        var ended = transaction
        // As long as the token is good, it has something to lead to.
        ended.expiresAt = context.now.addingTimeInterval(SessionToken.lifetime)
        let owner = RecordReference(.transaction, ended.id)
        let token = try environment.random.secret(prefix: "20")
        let changes: [Change] = [
            .put(try ended.record(version: version)), .closeTickets(of: owner),
            .issue(
                Ticket(kind: .sessionToken, digest: TicketDigest(of: token), owner: owner, use: .once, expiresAt: ended.expiresAt)),
            try logEntry("user.session.token", .success, userID: user.id, clientID: ended.applicationID, context: context),
        ]
        var shown = ClassicTransaction(.success)
        shown.sessionToken = token
        shown.expiresAt = ended.expiresAt
        shown.relayState = ended.classic?.relayState
        shown.user = ClassicPerson(user)
        return (ClassicAnswer(shown), changes)
    }

    /// The sign-in that a state token leads to; throws ``ClassicRefusal`` if there is none.
    func classicState(_ token: String, browser: String? = nil, context: RequestContext) async throws -> ClassicState {
        try await store.read { [self] view in
            do {
                return Result<ClassicState, ClassicRefusal>.success(
                    try ClassicState(
                        token, browser: browser, snapshot: snapshot(view), view: view, environment: environment, context: context))
            } catch let refusal as ClassicRefusal {
                return .failure(refusal)
            }
        }.get()
    }
}

extension Result where Success == ClassicAnswer, Failure == ClassicRefusal {
    /// Runs a step whose refusals are outcomes.
    init(_ body: () async throws -> ClassicAnswer) async throws {
        do { self = .success(try await body()) } catch let refusal as ClassicRefusal { self = .failure(refusal) }
    }
}
