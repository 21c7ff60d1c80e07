internal import Foundation
internal import JOSE

extension IdentityEngine {
    /// More than any login has, also spelled with decomposed accents, in bytes.
    private static let longestUsername = 1_024

    /// What was typed, or nothing if it is longer than any name: comparing names takes the square of their combining marks. Nothing
    /// is nobody's name as well, and takes the same way.
    static func possibleName(_ username: String) -> String { username.utf8.count <= longestUsername ? username : "" }

    /// Signs a person in by user name and password (RFC 6749 section 4.3, and the first step of a direct-auth sign-in).
    ///
    /// Counters, log and, when a second factor is asked for, the transaction and its `mfa_token` are committed before the
    /// outcome is returned. Whatever keeps a person out before their password was right is answered alike and after the
    /// same time; the log tells it apart.
    ///
    /// - Parameters:
    ///   - username: The name as it was typed.
    ///   - password: The password as it was typed.
    ///   - request: What the sign-in is for.
    ///   - snapshot: The configuration that decides.
    ///   - context: The request.
    /// - Returns: The user and what was proved, or a refusal; `mfa_required` is one, with its `mfa_token`.
    /// - Throws: ``StoreError`` if the store failed; `CancellationError`.
    func authenticate(
        username: String, password: String, for request: SignInRequest, snapshot: OrgSnapshot, context: RequestContext
    ) async throws -> SignInOutcome {
        let username = Self.possibleName(username)
        let origin = RequestOrigin(context, application: request.application)
        let attempts = try await countFirstAttempt(login: username, from: origin, snapshot: snapshot, context: context)
        guard attempts.isAdmitted else {
            return .refused(.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address"))
        }
        let verifier = PasswordVerifier(environment: environment, origin: origin)
        do {
            return try await judge(
                .password(password), of: username, request, readsEnrollments: false, snapshot: snapshot, context: context
            ) { _ in verifier }
        } catch is PasswordHasher.Overloaded {
            // A limit of the moment, not of a count: zero in both headers says so.
            let busy = RateLimitStatus(limit: 0, remaining: 0, reset: context.now.addingTimeInterval(1), isAdmitted: false)
            return .refused(.tooManyRequests(busy, reason: "too many passwords wait to be hashed"))
        }
    }

    /// Signs a person in by the code of their authenticator app alone, or as the first of two factors (oauth reference 2.4.10).
    ///
    /// As ``authenticate(username:password:for:snapshot:context:)`` does it by a password: wrong codes count as wrong passwords do.
    ///
    /// - Parameters:
    ///   - username: The name as it was typed.
    ///   - code: The code as it was typed.
    ///   - request: What the sign-in is for.
    ///   - snapshot: The configuration that decides.
    ///   - context: The request.
    /// - Returns: The user and what was proved, or a refusal; `mfa_required` is one, with its `mfa_token`.
    /// - Throws: ``StoreError`` if the store failed.
    func authenticate(
        username: String, code: String, for request: SignInRequest, snapshot: OrgSnapshot, context: RequestContext
    ) async throws -> SignInOutcome {
        let username = Self.possibleName(username)
        let origin = RequestOrigin(context, application: request.application)
        let attempts = try await countFirstAttempt(login: username, from: origin, snapshot: snapshot, context: context)
        guard attempts.isAdmitted else {
            return .refused(.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address"))
        }
        return try await judge(
            .code(code), of: username, request, readsEnrollments: true, snapshot: snapshot, context: context
        ) { [environment] in
            TOTPVerifier(environment: environment, enrollments: $0.enrollments, now: context.now, decoyApps: $0.decoyApps)
        }
    }

    private func judge<Verifier: FactorVerifier>(
        _ response: FactorResponse, of username: String, _ request: SignInRequest, readsEnrollments: Bool, snapshot: OrgSnapshot,
        context: RequestContext, by verifier: (NamedAccount) -> Verifier
    ) async throws -> SignInOutcome {
        let transaction = SignInTransaction(
            id: try environment.random.identifier(prefix: "txn"), request: request, now: context.now,
            lifetime: TimeInterval(snapshot.mfaTokenLifetime))
        let outcome = try await judgeFirst(
            response, of: username, transaction, readsEnrollments: readsEnrollments, snapshot: snapshot, context: context, by: verifier
        ) {
            try await commit($0, $1, $2, account: $3, context: context)
        }
        return outcome ?? .refused(.tooManyRequests(nil, reason: "the account changed on every attempt to write it"))
    }

    /// Lets a verifier, which is made for the account of a user name, judge the first factor of a transaction.
    ///
    /// Until the factor is proved, the engine does the same reads, computation and writes for every name. `commit` writes the outcome, and returns
    /// `nil` if another request wrote the user first. The function returns `nil` if every attempt failed so.
    func judgeFirst<Verifier: FactorVerifier, Answer: Sendable>(
        _ response: FactorResponse, of username: String, _ transaction: SignInTransaction, readsEnrollments: Bool, snapshot: OrgSnapshot,
        context: RequestContext, by verifier: (NamedAccount) -> Verifier,
        commit: (SignInTransaction, SignInTransaction.Outcome, [SignInTransaction.Effect], NamedAccount) async throws -> Answer?
    ) async throws -> Answer? {
        var (account, subject) = try await load(
            username, transaction, snapshot, context, readsEnrollments: readsEnrollments, isProved: false)
        var judge = verifier(account)
        var verdict = try await judge.verify(response, of: account.user?.value, policy: snapshot.passwordPolicy)
        // Others may have signed in, guessed or changed the password in the meantime: what counts is the state that the
        // commit meets. Each round that loses means that somebody else's went through.
        for _ in 0..<1_000 {
            let judged = account
            (account, subject) = try await load(
                username, transaction, snapshot, context, readsEnrollments: readsEnrollments, isProved: verdict.isProved)
            let isStale =
                account.user?.value.passwordHash != judged.user?.value.passwordHash || account.enrollments != judged.enrollments
            if isStale {
                judge = verifier(account)
                verdict = try await judge.verify(response, of: account.user?.value, policy: snapshot.passwordPolicy)
                continue
            }
            let (next, outcome, effects) = transaction.step(
                .judged(judge.kind, judge.factorClass, methods: judge.methods, verdict, subject), now: context.now)
            if let answer = try await commit(next, outcome, effects, account) { return answer }
        }
        return nil
    }

    /// The account of a user name, and the requirements of this sign-in.
    private func load(
        _ username: String, _ transaction: SignInTransaction, _ snapshot: OrgSnapshot, _ context: RequestContext, readsEnrollments: Bool,
        isProved: Bool
    ) async throws -> (NamedAccount, SignInTransaction.Subject?) {
        try await store.read { [self] view in
            let account = try namedAccount(username, withEnrollments: readsEnrollments, in: view)
            let origin = try view.origin(
                of: transaction, by: account.user?.value.id ?? account.decoy.id, snapshot: snapshot, context: context)
            guard let user = account.user?.value else { return (account, nil) }
            guard isProved, user.isOpen(to: origin, policy: snapshot.passwordPolicy, now: context.now) else {
                return (account, SignInTransaction.Subject(unproved: user, of: transaction, from: origin, snapshot: snapshot))
            }
            return (account, try view.subject(user, of: transaction, snapshot: snapshot, from: context))
        }
    }

    /// Commits what a step came to.
    ///
    /// - Returns: The outcome for the front door; nil if somebody else wrote the user first.
    private func commit(
        _ transaction: SignInTransaction, _ outcome: SignInTransaction.Outcome, _ effects: [SignInTransaction.Effect],
        account: NamedAccount, context: RequestContext
    ) async throws -> SignInOutcome? {
        let user = account.user
        var person = user?.value
        var changes: [Change] = []
        for effect in effects {
            switch effect {
            case .writeUser(let changed):
                guard let user else { continue }
                person = changed
                changes.append(.put(try user.record(holding: changed)))
            case .writeEnrollment(let used): changes += try used.changes()
            case .log(let type, let outcome, let reason):
                changes.append(
                    try logEntry(
                        type, outcome, reason: reason, userID: transaction.userID, clientID: transaction.applicationID,
                        server: transaction.server, context: context))
            }
        }
        let answer: SignInOutcome
        switch outcome {
        case .authenticated(let proved):
            guard let person else { return nil }
            answer = .authenticated(person, proved)
        case .refused(let refusal):
            if !effects.writesUser { changes.append(try account.idleWrite()) }
            answer = .refused(refusal)
        case .factorRequired(let grantTypes):
            let token = try environment.random.secret(prefix: "mfa_")
            changes += try open(transaction, by: token)
            answer = .refused(.factorRequired(grantTypes, token: token))
        case .enrollmentRequired, .enrollmentOffered, .passwordDue, .recovering, .unlocked, .tryAgain, .challenged, .pending, .judged,
            .tooLate, .cancelled:
            answer = .refused(.overTransaction)
        }
        switch try await store.commit(changes) {
        case .committed: return answer
        case .conflict: return nil
        }
    }

    /// Stores a transaction that goes on, with the token that leads to it.
    private func open(_ transaction: SignInTransaction, by token: String) throws -> [Change] {
        let ticket = Ticket(
            kind: .mfaToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, transaction.id), use: .untilClosed,
            expiresAt: transaction.expiresAt.addingTimeInterval(SignInTransaction.keptAfter))
        return [.put(try transaction.record()), .issue(ticket)]
    }
}

extension Refusal {
    /// Another factor is asked for (oauth reference 2.4.11).
    static func factorRequired(_ grantTypes: [String], token: String) -> Refusal {
        Refusal(
            .mfaRequired, "Verify with an additional authenticator.",
            members: ["mfa_token": .string(token), "supported_challenge_types": .string(grantTypes.joined(separator: " "))],
            reason: "a second factor is asked for")
    }
}
