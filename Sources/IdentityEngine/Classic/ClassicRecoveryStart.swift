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
    /// Begins the recovery of an account.
    ///
    /// Unknown user names follow the same steps until a code is correct, so that responses do not reveal whether an account exists. A
    /// trusted caller that names no channel gets the token, or the reason of the refusal.
    ///
    /// - Parameters:
    ///   - request: The user name, the channel of the message, and whether to unlock the account.
    ///   - caller: The caller; a valid API token makes it a trusted caller.
    ///   - context: The time, for limits; the origin, for limits and known devices.
    /// - Returns: The state; or a refusal: `E0000001`, a limit, or for a trusted caller the reason.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicRecover(
        _ request: ClassicRecoveryRequest, caller: ClassicCaller, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        let step = try await transact(context, refusing: ClassicRefusal.self) { [self] reading in
            try recoveryStart(request, caller, reading, context)
        } decide: { found in
            guard let channel = found.channel else { return try startTrusted(request, found, context) }
            return try channel == .email ? mailLink(request, found, context) : sendCode(request, by: channel, found, context)
        }
        return try await finish(step, context: context)
    }

    /// Counts the attempt, and reads the account; throws ``ClassicRefusal``.
    private func recoveryStart(
        _ request: ClassicRecoveryRequest, _ caller: ClassicCaller, _ reading: Reading<Never>, _ context: RequestContext
    ) throws -> RecoveryStart {
        let snapshot = try reading.snapshot
        let (policy, trusted) = try admit(caller, snapshot: snapshot)
        let username = Self.possibleName(request.username)
        guard let application = snapshot.classicApplication else { throw ClassicRefusal.notEnabled }
        let origin = RequestOrigin(context, application: application)
        let account = try namedAccount(username, withEnrollments: true, in: reading.view)
        if !reading.isRepeated {
            let attempts = countFirstAttempt(
                login: username, of: account.user?.value, from: origin, snapshot: snapshot, context: context)
            guard attempts.isAdmitted else {
                throw ClassicRefusal.tooManyRequests(attempts, reason: "recoveries for one user name or from one address")
            }
        }
        let channel = try Self.recoveryChannel(request.factorType, isTrusted: trusted != nil)
        if let channel, !reading.isRepeated {
            // Limited by the name, which does not reveal whether an account exists.
            let pace = recoveryPacer.refusal(
                channel, to: User.key(forLogin: username), .anybody, limit: nil, requestID: context.requestID, now: context.now)
            if let pace { throw ClassicRefusal(pace, context: context) }
        }
        return RecoveryStart(
            request.kind, channel, policy, snapshot,
            isClosed: recoveryBudget.isSpent(limit: snapshot.rateLimits.recoveryGuesses, now: context.now), account: account, from: origin,
            now: context.now)
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

    /// Plans that a trusted caller gets the token.
    private func startTrusted(
        _ request: ClassicRecoveryRequest, _ found: RecoveryStart, _ context: RequestContext
    ) throws -> ClassicPlan {
        guard let user = found.user, found.isOpen else { throw ClassicRefusal.recoveryNotAllowed(request, isKnown: found.user != nil) }
        let transaction = try transaction(
            request, stage: .token, channel: nil, user: user.value, snapshot: found.snapshot, lifetime: ClassicRecovery.tokenLifetime,
            context: context)
        let token = try environment.random.secret(prefix: "rt_")
        var writes = Writes([.put(try transaction.record()), transaction.issue(.recoveryToken, token)])
        writes.log("user.account.recovery", .success, reason: "a trusted caller got the token", userID: user.value.id)
        var shown = ClassicTransaction(.recovery)
        shown.recoveryType = request.kind.rawValue
        shown.recoveryToken = token
        shown.expiresAt = transaction.expiresAt
        shown.relayState = request.relayState
        shown.user = ClassicPerson(user.value)
        shown.next = .recovery
        shown.canCancel = true
        return Plan(.success(ClassicStepAnswer(shown)), writes)
    }

    /// Plans a mail with a link. Without a recipient, the engine commits the same writes, returns the same answer and discards the token.
    private func mailLink(
        _ request: ClassicRecoveryRequest, _ found: RecoveryStart, _ context: RequestContext
    ) throws -> ClassicPlan {
        let transaction = try transaction(
            request, stage: .token, channel: .email, user: found.recipient, snapshot: found.snapshot,
            lifetime: ClassicRecovery.tokenLifetime, context: context)
        let token = try environment.random.secret(prefix: "rt_")
        var writes = found.logged + [.put(try transaction.record()), transaction.issue(.recoveryToken, token)]
        var shown = ClassicTransaction(.recoveryChallenge)
        shown.recoveryType = request.kind.rawValue
        shown.recoveryChannel = .email
        shown.factorResult = .waiting
        shown.relayState = request.relayState
        var answer = ClassicStepAnswer(shown)
        if let user = found.recipient, let destination = found.destination {
            do {
                answer.messages = [
                    try linkMessage(
                        request.isUnlock ? .unlock : .recovery, by: .email, to: destination, token: token,
                        expiresAt: transaction.expiresAt, user: user, snapshot: found.snapshot, context: context)
                ]
            } catch let refusal as CodeRefusal {
                writes.log(unsent: refusal, to: user)
            }
        }
        return Plan(.success(answer), writes)
    }

    /// Plans that a code is sent. Without a recipient, or over a limit, the answer is the same.
    private func sendCode(
        _ request: ClassicRecoveryRequest, by channel: CodeChannel, _ found: RecoveryStart, _ context: RequestContext
    ) throws -> ClassicPlan {
        let transaction = try transaction(
            request, stage: .code, channel: channel, user: found.recipient, snapshot: found.snapshot, lifetime: ClassicSignIn.idleLifetime,
            context: context)
        let token = try environment.random.secret(prefix: "00")
        var answer = ClassicStepAnswer(.continues(token: token, browser: request.page?.browser))
        var writes = found.logged
        if let user = found.recipient, let enrollment = found.enrollment {
            do {
                let prepared = try prepareCode(
                    CodeRequest(purpose: request.isUnlock ? .unlock : .recovery, owner: transaction.id, channel: channel), for: enrollment,
                    of: user, snapshot: found.snapshot, context: context)
                writes += prepared.writes
                answer.messages = [prepared.message]
            } catch let refusal as CodeRefusal {
                writes.log(unsent: refusal, to: user)
            }
        } else {
            // Does the work of sending a code, for an unknown user name.
            _ = environment.digest(ofCode: try environment.makeCode(), enrollment: "", owner: transaction.id)
            writes += [try found.account.idleWrite()]
            writes.log("user.mfa.code.send", .denied, reason: found.reason, userID: found.user?.value.id)
        }
        if request.page != nil {
            // The page refuses a second message that is too early, even if no first message was sent.
            _ = recoveryPacer.refusal(
                channel, to: transaction.id, .anybody, limit: nil, requestID: context.requestID, now: context.now)
        }
        return Plan(.success(answer), writes + [.put(try transaction.record()), .issue(transaction.classicTicket(token))])
    }
}

extension Writes {
    /// Logs a message that was not sent; the response does not reveal it.
    mutating func log(unsent refusal: CodeRefusal, to user: User) {
        log("user.mfa.code.send", .denied, reason: refusal.reason, userID: user.id)
    }
}

/// The account of the user name and the destination of the message, as one read finds them.
private struct RecoveryStart: Sendable {
    /// `nil` for a trusted caller, which gets the token.
    let channel: CodeChannel?
    let snapshot: OrgSnapshot
    let account: NamedAccount
    var user: StoredUser? { account.user }
    /// Whether the account can be recovered at all.
    let isOpen: Bool
    /// The destination of the code or the link; `nil` if none is sent.
    let destination: CodeDestination?
    /// The telephone of the destination.
    let enrollment: Enrollment?
    /// For the log.
    let reason: String

    /// The user who gets a message; `nil` for none.
    var recipient: User? { destination == nil ? nil : user?.value }

    /// The log event of the request.
    var logged: Writes {
        var writes = Writes()
        writes.log("user.account.recovery", recipient == nil ? .denied : .success, reason: reason, userID: user?.value.id)
        return writes
    }

    init(
        _ kind: ClassicRecovery.Kind, _ channel: CodeChannel?, _ policy: ClassicPolicy, _ snapshot: OrgSnapshot, isClosed: Bool,
        account: NamedAccount, from origin: RequestOrigin, now: Date
    ) {
        (self.channel, self.snapshot, self.account) = (channel, snapshot, account)
        let user = account.user
        // Wrong answers to any factor lock the account; recovering the password unlocks it only if users may unlock.
        let isLocked = user?.value.isLocked(for: origin, policy: snapshot.passwordPolicy, now: now) == true
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
    /// Issues a single-use token that leads to the sign-in.
    func issue(_ kind: TicketKind, _ token: String) -> Change {
        let owner = RecordReference(.transaction, id)
        return .issue(Ticket(kind: kind, digest: TicketDigest(of: token), owner: owner, use: .once, expiresAt: expiresAt))
    }

    /// The ticket of the state token.
    func classicTicket(_ token: String) -> Ticket {
        Ticket(
            kind: .stateToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, id), use: .untilClosed,
            expiresAt: createdAt.addingTimeInterval(ClassicSignIn.lifetime + Self.keptAfter))
    }
}

extension ClassicRefusal {
    /// The answer to a trusted caller only.
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
