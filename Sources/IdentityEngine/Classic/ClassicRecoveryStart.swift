internal import Foundation

/// What begins a recovery (authn reference 4.9 and 4.10).
public struct ClassicRecoveryRequest: Sendable {
    /// Whether an account is to be unlocked; otherwise a password was forgotten.
    public var isUnlock: Bool
    /// The name as it was typed.
    public var username: String
    /// `SMS`, `CALL` or `EMAIL`, in any case; nil for a trusted caller that brings the token itself.
    public var factorType: String?
    /// Given back with every answer.
    public var relayState: String?
    /// The page that it is begun on; nil at the API.
    var page: RecoveryBeginning?

    /// Describes a request.
    public init(isUnlock: Bool, username: String, factorType: String?, relayState: String? = nil) {
        self.isUnlock = isUnlock
        self.username = username
        self.factorType = factorType
        self.relayState = relayState
    }

    var kind: ClassicRecovery.Kind { isUnlock ? .unlock : .password }
}

extension IdentityEngine {
    /// Begins to get back into an account.
    ///
    /// Who asks is told nothing of whose the name is, whether anything was sent, and where: the answer is the same, and what follows is
    /// until a code is right. A trusted caller gets a token instead, and is told.
    ///
    /// - Parameters:
    ///   - request: What the client sent.
    ///   - caller: Who calls.
    ///   - context: When and from where it came.
    /// - Returns: Where the recovery stands; or a refusal: `E0000001`, a limit, or for a trusted caller why not.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicRecover(
        _ request: ClassicRecoveryRequest, caller: ClassicCaller, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await Result {
            let snapshot = try await snapshot()
            let (policy, trusted) = try admit(caller, snapshot: snapshot)
            let username = Self.possibleName(request.username)
            guard let application = snapshot.classicApplication else { throw ClassicRefusal.notEnabled }
            let origin = RequestOrigin(context, application: application)
            let attempts = try await countFirstAttempt(login: username, from: origin, snapshot: snapshot, context: context)
            guard attempts.isAdmitted else {
                throw ClassicRefusal.tooManyRequests(attempts, reason: "recoveries for one user name or from one address")
            }
            let channel = try Self.recoveryChannel(request.factorType, isTrusted: trusted != nil)
            if let channel {
                // By the name: it tells nothing of whose it is.
                let pace = recoveryPacer.refusal(
                    channel, to: User.key(forLogin: username), .anybody, limit: nil, requestID: context.requestID, now: context.now)
                if let pace { throw ClassicRefusal(pace, context: context) }
            }
            let isSpent = recoveryBudget.isSpent(limit: snapshot.rateLimits.recoveryGuesses, now: context.now)
            for _ in 0..<Self.attempts {
                let found = try await store.read { [self] in
                    try RecoveryStart(
                        request.kind, channel, policy, passwordPolicy: snapshot.passwordPolicy, isClosed: isSpent,
                        account: namedAccount(username, withEnrollments: true, in: $0), from: origin, now: context.now)
                }
                let answer =
                    channel == nil
                    ? try await startTrusted(request, found, snapshot: snapshot, context: context)
                    : try await start(request, channel ?? .email, found, snapshot: snapshot, context: context)
                if let answer { return answer }
            }
            throw StoreError(.unavailable, "The recovery met other writers \(Self.attempts) times. Try it again.")
        }
    }

    private static func recoveryChannel(_ factorType: String?, isTrusted: Bool) throws(ClassicRefusal) -> CodeChannel? {
        guard let factorType else {
            guard isTrusted else { throw .invalid("recoveryRequest", ["factorType: The member must be EMAIL, SMS or CALL."]) }
            return nil
        }
        switch factorType.lowercased() {
        case "sms": return .sms
        case "call": return .voice
        case "email": return .email
        default: throw .invalid("recoveryRequest", ["factorType: The member must be EMAIL, SMS or CALL."])
        }
    }

    private func transaction(
        _ request: ClassicRecoveryRequest, stage: ClassicRecovery.Stage, channel: CodeChannel?, user: User?, snapshot: OrgSnapshot,
        lifetime: TimeInterval, context: RequestContext
    ) throws -> SignInTransaction {
        guard let application = snapshot.classicApplication else { throw ClassicRefusal.notEnabled }
        var transaction = SignInTransaction(
            id: try environment.random.identifier(prefix: "txn"), request: SignInRequest(application: application, server: nil, scopes: []),
            now: context.now, lifetime: lifetime)
        if let user { transaction.meet(user) }
        transaction.classic = ClassicSignIn(relayState: request.relayState)
        transaction.classic?.recovery = ClassicRecovery(kind: request.kind, stage: stage, channel: channel)
        transaction.classic?.page = try request.page.map { try RecoveryPage($0, of: transaction.id, environment: environment) }
        return transaction
    }

    private func recoveryTicket(_ transaction: SignInTransaction, token: String) -> Change {
        .issue(
            Ticket(
                kind: .recoveryToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, transaction.id), use: .once,
                expiresAt: transaction.expiresAt))
    }

    /// A back end gets the token: it knows the person.
    private func startTrusted(
        _ request: ClassicRecoveryRequest, _ found: RecoveryStart, snapshot: OrgSnapshot, context: RequestContext
    ) async throws -> ClassicAnswer? {
        guard let user = found.user, found.isOpen else { throw ClassicRefusal.recoveryNotAllowed(request, isKnown: found.user != nil) }
        let transaction = try transaction(
            request, stage: .token, channel: nil, user: user.value, snapshot: snapshot, lifetime: ClassicRecovery.tokenLifetime,
            context: context)
        let token = try environment.random.secret(prefix: "rt_")
        let log = try logEntry(
            "user.account.recovery", .success, reason: "a trusted caller got the token", userID: user.value.id, context: context)
        guard try await store.commit([.put(try transaction.record()), recoveryTicket(transaction, token: token), log]) == .committed else {
            return nil
        }
        var shown = ClassicTransaction(.recovery)
        shown.recoveryType = request.kind.rawValue
        shown.recoveryToken = token
        shown.expiresAt = transaction.expiresAt
        shown.relayState = request.relayState
        shown.user = ClassicPerson(user.value)
        shown.next = .recovery
        shown.canCancel = true
        return ClassicAnswer(shown)
    }

    /// A code is sent, or a link; or nothing is, and the answer is the same.
    private func start(
        _ request: ClassicRecoveryRequest, _ channel: CodeChannel, _ found: RecoveryStart, snapshot: OrgSnapshot, context: RequestContext
    ) async throws -> ClassicAnswer? {
        let user = found.destination == nil ? nil : found.user?.value
        let isMail = channel == .email
        let transaction = try transaction(
            request, stage: isMail ? .token : .code, channel: channel, user: user, snapshot: snapshot,
            lifetime: isMail ? ClassicRecovery.tokenLifetime : ClassicSignIn.idleLifetime, context: context)
        var changes = [
            try logEntry(
                "user.account.recovery", user == nil ? .denied : .success, reason: found.reason, userID: found.user?.value.id,
                context: context)
        ]
        var messages: [OutgoingMessage] = []
        let token = try environment.random.secret(prefix: isMail ? "rt_" : "00")
        if isMail {
            // Also if no mail is sent: the token then remains unknown to every caller.
            changes += [.put(try transaction.record()), recoveryTicket(transaction, token: token)]
            if let user, let destination = found.destination {
                do {
                    messages = [
                        try linkMessage(
                            request.isUnlock ? .unlock : .recovery, by: .email, to: destination, token: token,
                            expiresAt: transaction.expiresAt, user: user, snapshot: snapshot, context: context)
                    ]
                } catch let refusal as CodeRefusal {
                    changes.append(try unsent(refusal, to: user, context: context))
                }
            }
            guard try await store.commit(changes) == .committed else { return nil }
            var shown = ClassicTransaction(.recoveryChallenge)
            shown.recoveryType = request.kind.rawValue
            shown.recoveryChannel = .email
            shown.factorResult = .waiting
            shown.relayState = request.relayState
            var answer = ClassicAnswer(shown)
            answer.messages = messages
            return answer
        }
        if let user, let enrollment = found.enrollment {
            // What may not be sent now is not, and nobody is told.
            do {
                let prepared = try prepareCode(
                    CodeRequest(purpose: request.isUnlock ? .unlock : .recovery, owner: transaction.id, channel: channel), for: enrollment,
                    of: user, snapshot: snapshot, context: context)
                changes += try self.changes(of: prepared.writes, context: context)
                messages = [prepared.message]
            } catch let refusal as CodeRefusal {
                changes.append(try unsent(refusal, to: user, context: context))
            }
        } else {
            // Does the work of sending a code, for an unknown user name.
            _ = environment.digest(ofCode: try environment.makeCode(), enrollment: "", owner: transaction.id)
            changes += [
                try found.account.idleWrite(),
                try logEntry(
                    "user.mfa.code.send", .denied, reason: found.reason, userID: found.user?.value.id, context: context),
            ]
        }
        if request.page != nil {
            // The page tells who asks for another one too soon, whether or not there was a first.
            _ = recoveryPacer.refusal(
                channel, to: transaction.id, .anybody, limit: nil, requestID: context.requestID, now: context.now)
        }
        changes += [.put(try transaction.record()), .issue(transaction.classicTicket(token))]
        guard try await store.commit(changes) == .committed else { return nil }
        let state = try await classicState(token, browser: request.page?.browser, context: context)
        guard var answer = try await show(state.transaction, of: state, context: context) else { return nil }
        answer.messages = messages
        return answer
    }

    /// The line of the log for a message that was not sent: who asked for it is not told.
    func unsent(_ refusal: CodeRefusal, to user: User, context: RequestContext) throws -> Change {
        try logEntry("user.mfa.code.send", .denied, reason: refusal.reason, userID: user.id, context: context)
    }
}

/// Whom a name is of, and how they can be reached, as one read finds it.
struct RecoveryStart: Sendable {
    let account: NamedAccount
    var user: StoredUser? { account.user }
    /// Whether the account can be recovered at all.
    let isOpen: Bool
    /// Where a code or a link is sent; nil if none is.
    let destination: CodeDestination?
    /// The telephone that it is.
    let enrollment: Enrollment?
    /// For the log.
    let reason: String

    init(
        _ kind: ClassicRecovery.Kind, _ channel: CodeChannel?, _ policy: ClassicPolicy, passwordPolicy: PasswordPolicy, isClosed: Bool,
        account: NamedAccount, from origin: RequestOrigin, now: Date
    ) {
        self.account = account
        let user = account.user
        // A lock is what guesses at any factor come to: recovering the password opens none, unless the person may unlock.
        let isLocked = user?.value.isLocked(for: origin, policy: passwordPolicy, now: now) == true
        isOpen =
            user?.value.status == .active
            && (kind == .password
                ? channel == nil || user?.value.passwordHash != nil && (!isLocked || policy.unlocksBySelfService)
                : user?.value.hasLock == true)
        guard let user, isOpen else {
            (destination, enrollment, reason) = (nil, nil, user == nil ? "unknown user" : "account is not open to it")
            return
        }
        guard let channel, policy.recovery.contains(channel), kind == .password || policy.unlocksBySelfService else {
            (destination, enrollment, reason) = (nil, nil, "policy does not allow it")
            return
        }
        guard channel == .email || user.value.guessedCodes?.isClosed(at: now) != true else {
            (destination, enrollment, reason) = (nil, nil, "too many wrong codes in all recoveries together")
            return
        }
        guard channel == .email || !isClosed || user.value.knows(origin) else {
            (destination, enrollment, reason) = (nil, nil, "too many wrong codes and answers of all users together")
            return
        }
        let held = account.enrollments
        if channel == .email {
            enrollment = nil
            destination = user.value.mailAddress.map { CodeDestination($0) }
        } else {
            enrollment = held.first { $0.code?.channel == channel } ?? held.first { $0.code?.destination.phoneNumber != nil }
            destination = enrollment?.code?.destination
        }
        reason = destination == nil ? "\(channel.rawValue): nothing that could be reached" : channel.rawValue
    }
}

extension SignInTransaction {
    /// The ticket that its state token is.
    func classicTicket(_ token: String) -> Ticket {
        Ticket(
            kind: .stateToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, id), use: .untilClosed,
            expiresAt: createdAt.addingTimeInterval(ClassicSignIn.lifetime + Self.keptAfter))
    }
}

extension ClassicRefusal {
    /// Told to trusted callers only.
    static func recoveryNotAllowed(_ request: ClassicRecoveryRequest, isKnown: Bool) -> ClassicRefusal {
        guard isKnown else {
            return ClassicRefusal(
                code: "E0000095", status: 403, summary: "There is no such user to recover.", reason: "recovery: unknown user")
        }
        return ClassicRefusal(
            code: request.isUnlock ? "E0000032" : "E0000034", status: 403,
            summary: request.isUnlock ? "This account cannot be unlocked." : "This account cannot be recovered.",
            reason: "recovery: not allowed")
    }
}
