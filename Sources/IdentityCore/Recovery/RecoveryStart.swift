package import Foundation
package import Store

/// The parameters of a new recovery.
package struct RecoveryRequest: Sendable {
    package var kind: Recovery.Kind
    /// The user name as entered.
    package var username: String
    /// The channel of the message; `nil` for none.
    package var channel: CodeChannel?
    /// Whether a trusted caller gets the token itself if there is no channel.
    package var givesToken = false
    /// The state of the protocol module that starts the recovery.
    package var door: DoorState?
    /// The factors that the client can present after the recovery; `nil` for every factor of the user.
    package var presentable: Set<FactorKind>?
    package var rules: DoorRules
    /// The browser and the sign-in from which the recovery starts on the hosted pages; `nil` at an API.
    package var page: RecoveryBeginning?

    package init(
        _ kind: Recovery.Kind, username: String, channel: CodeChannel?, givesToken: Bool = false, door: DoorState? = nil,
        presentable: Set<FactorKind>? = nil, rules: DoorRules, page: RecoveryBeginning? = nil
    ) {
        (self.kind, self.username, self.channel, self.givesToken) = (kind, username, channel, givesToken)
        (self.door, self.presentable, self.rules, self.page) = (door, presentable, rules, page)
    }
}

/// The response to the start of a recovery. An unknown user name gets the same response, but no message is sent.
package struct BegunRecovery: Sendable {
    package let expiresAt: Date
    /// The state token of a recovery that asks for a code; `nil` for every other recovery.
    package var stateToken: String?
    /// The token that a trusted caller gets; `nil` for every other recovery.
    package var recoveryToken: String?
}

extension Engine {
    /// Counts the attempt, and reads the account. Unknown user names follow the same steps until a code is correct, so that responses do
    /// not reveal whether an account exists. Only a trusted caller that names no channel learns this. Throws ``RecoveryRefusal``.
    package func recoveryStart(
        _ request: RecoveryRequest, _ reading: Reading<some Sendable>, _ context: RequestContext
    ) throws -> RecoveryStart {
        let snapshot = try reading.snapshot
        guard let policy = snapshot.organization.classic, let application = snapshot.classicApplication else {
            throw RecoveryRefusal.notEnabled
        }
        let username = Self.possibleName(request.username)
        let origin = RequestOrigin(context, application: application)
        let account = try namedAccount(username, withEnrollments: true, in: reading.view)
        if !reading.isRepeated {
            let attempts = countFirstAttempt(
                login: username, of: account.user?.value, from: origin, snapshot: snapshot, context: context)
            guard attempts.isAdmitted else {
                throw RecoveryRefusal.tooManyAttempts(attempts, reason: "recoveries for one user name or from one address")
            }
        }
        guard request.channel != nil || request.givesToken else { throw RecoveryRefusal.noChannel }
        var start = RecoveryStart(
            request, policy, snapshot, application, isClosed: try reading.view.recoveryBudget(at: context.now).isSpent(snapshot),
            account: account, from: origin, now: context.now)
        if let channel = request.channel {
            // Limited by the name, which does not reveal whether an account exists.
            do {
                start.counts = try messagePacer.count(
                    channel, to: "name " + User.key(forLogin: username), .anybody, limit: nil, now: context.now)
            } catch let refusal as CodeRefusal {
                throw RecoveryRefusal.paced(refusal)
            }
        }
        return start
    }

    /// Plans the start of a recovery. Throws ``RecoveryRefusal`` only for a trusted caller that names no channel.
    package func begin(_ found: RecoveryStart, context: RequestContext) throws -> Plan<BegunRecovery> {
        guard let channel = found.request.channel else { return try startTrusted(found, context) }
        return try channel == .email ? mailLink(found, context) : sendCode(found, by: channel, context)
    }

    private func transaction(
        _ found: RecoveryStart, stage: Recovery.Stage, user: User?, lifetime: TimeInterval, context: RequestContext
    ) throws -> SignInTransaction {
        let request = found.request
        var transaction = SignInTransaction(
            id: try environment.random.identifier(prefix: "txn"),
            request: SignInRequest(
                application: found.application, server: nil, scopes: [], presentable: request.presentable, rules: request.rules),
            now: context.now, lifetime: lifetime)
        if let user { transaction.meet(user) }
        transaction.door = request.door
        transaction.recovery = Recovery(kind: request.kind, stage: stage, channel: request.channel)
        transaction.recovery?.page = try request.page.map { try RecoveryPage($0, of: transaction.id, environment: environment) }
        return transaction
    }

    /// Plans the response with the token for a trusted caller.
    private func startTrusted(_ found: RecoveryStart, _ context: RequestContext) throws -> Plan<BegunRecovery> {
        guard let user = found.user else { throw RecoveryRefusal.unknownUser }
        guard found.isOpen else { throw RecoveryRefusal.closedAccount(found.request.kind) }
        let transaction = try transaction(
            found, stage: .token, user: user.value, lifetime: Recovery.tokenLifetime, context: context)
        let token = try environment.random.secret(prefix: "rt_")
        var writes = Writes([.put(try transaction.record()), transaction.issue(.recoveryToken, token)])
        writes.log("user.account.recovery", .success, reason: "a trusted caller got the token", userID: user.value.id)
        return Plan(BegunRecovery(expiresAt: transaction.expiresAt, recoveryToken: token), writes)
    }

    /// Plans a mail with a link. Without a recipient, the response and the cost of the writes are the same, and the token is discarded.
    private func mailLink(_ found: RecoveryStart, _ context: RequestContext) throws -> Plan<BegunRecovery> {
        let transaction = try transaction(
            found, stage: .token, user: found.recipient, lifetime: Recovery.tokenLifetime, context: context)
        let token = try environment.random.secret(prefix: "rt_")
        var writes = found.logged + found.counts + [.put(try transaction.record()), transaction.issue(.recoveryToken, token)]
        let begun = BegunRecovery(expiresAt: transaction.expiresAt)
        if let user = found.recipient, let destination = found.destination {
            do {
                writes += try linkMessage(
                    found.request.kind == .unlock ? .unlock : .recovery, by: .email, to: destination, token: token,
                    expiresAt: transaction.expiresAt, user: user, snapshot: found.snapshot, context: context)
            } catch let refusal as CodeRefusal {
                writes.log(unsent: refusal, to: user)
            }
        } else {
            writes += try messagePacer.decoy(
                .email, for: found.request.username, limit: found.snapshot.rateLimits.messages, now: context.now)
        }
        return Plan(begun, writes)
    }

    /// Plans to send a code. Without a recipient, or over a limit, the response is the same.
    private func sendCode(
        _ found: RecoveryStart, by channel: CodeChannel, _ context: RequestContext
    ) throws -> Plan<BegunRecovery> {
        let request = found.request
        let transaction = try transaction(
            found, stage: .code, user: found.recipient, lifetime: SignInTransaction.idleLifetime, context: context)
        let token = try environment.random.secret(prefix: "00")
        let begun = BegunRecovery(expiresAt: transaction.expiresAt, stateToken: token)
        var writes = found.logged + found.counts
        if let user = found.recipient, let enrollment = found.enrollment {
            do {
                let prepared = try prepareCode(
                    CodeRequest(purpose: request.kind == .unlock ? .unlock : .recovery, owner: transaction.id, channel: channel),
                    for: enrollment, of: user, snapshot: found.snapshot, context: context)
                writes += prepared.writes
            } catch let refusal as CodeRefusal {
                writes.log(unsent: refusal, to: user)
            }
        } else {
            // Does the same work as for a known user name.
            _ = environment.digest(ofCode: try environment.makeCode(), enrollment: "", owner: transaction.id)
            writes += [try found.account.idleWrite()]
            writes += try messagePacer.decoy(
                channel, for: request.username, limit: found.snapshot.rateLimits.messages, now: context.now)
            writes.log("user.mfa.code.send", .denied, reason: found.reason, userID: found.user?.value.id)
        }
        if request.page != nil {
            // The page rejects a second message that is too early, even if no first message was sent.
            writes += try messagePacer.count(channel, to: transaction.id, .anybody, limit: nil, now: context.now)
        }
        return Plan(begun, writes + [.put(try transaction.record()), .issue(transaction.classicTicket(token))])
    }
}

extension Writes {
    /// Logs a message that was not sent; the response does not reveal it.
    mutating func log(unsent refusal: CodeRefusal, to user: User) {
        log("user.mfa.code.send", .denied, reason: refusal.reason, userID: user.id)
    }
}

/// The account of the user name and the destination of the message, from one read.
package struct RecoveryStart: Sendable {
    let request: RecoveryRequest
    let snapshot: OrgSnapshot
    let application: Application
    package let account: NamedAccount
    package var user: StoredUser? { account.user }
    /// Whether the account can be recovered at all.
    let isOpen: Bool
    /// The destination of the code or the link; `nil` if none is sent.
    let destination: CodeDestination?
    /// The phone enrollment of the destination; `nil` for mail.
    let enrollment: Enrollment?
    /// The channel, or the reason why no message is sent; for the log.
    let reason: String
    /// The changes that count the recovery towards the limit of its user name.
    fileprivate(set) var counts: [Change] = []

    /// The user who gets a message; `nil` for none.
    var recipient: User? { destination == nil ? nil : user?.value }

    var logged: Writes {
        var writes = Writes()
        writes.log("user.account.recovery", recipient == nil ? .denied : .success, reason: reason, userID: user?.value.id)
        return writes
    }

    fileprivate init(
        _ request: RecoveryRequest, _ policy: ClassicPolicy, _ snapshot: OrgSnapshot, _ application: Application, isClosed: Bool,
        account: NamedAccount, from origin: RequestOrigin, now: Date
    ) {
        (self.request, self.snapshot, self.application, self.account) = (request, snapshot, application, account)
        let (kind, channel, user) = (request.kind, request.channel, account.user)
        // Wrong answers to any factor lock the account. Password recovery unlocks it only if the policy permits users to unlock it.
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
        if channel == .email {
            enrollment = nil
            destination = user.value.mailAddress.map { CodeDestination($0) }
        } else {
            enrollment = account.enrollments.telephone(for: channel)
            destination = enrollment?.sentCode?.destination
        }
        reason = destination == nil ? "\(channel.rawValue): nothing that could be reached" : channel.rawValue
    }
}

extension SignInTransaction {
    /// Returns the change that issues a single-use token for the sign-in.
    package func issue(_ kind: TicketKind, _ token: String) -> Change {
        let owner = RecordReference(.transaction, id)
        return .issue(Ticket(kind: kind, digest: TicketDigest(of: token), owner: owner, use: .once, expiresAt: expiresAt))
    }

    package func classicTicket(_ token: String) -> Ticket {
        Ticket(
            kind: .stateToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, id), use: .untilClosed,
            expiresAt: createdAt.addingTimeInterval(SignInTransaction.longestLifetime + Self.keptAfter))
    }
}
