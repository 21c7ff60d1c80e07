package import Foundation
package import Store

extension Engine {
    /// Checks limits and policies, and plans the challenge. Throws ``Refusal`` if the user must not be challenged now.
    package func plan(
        _ start: ChallengeStart, application: Application, snapshot: OrgSnapshot, context: RequestContext, _ view: any StoreView
    ) throws -> PlannedChallenge {
        guard let subject = try view.subject(start.user.value, of: start.transaction, snapshot: snapshot, from: context) else {
            throw Refusal.overTransaction
        }
        let recent = try view.records(.transaction, where: "challenged", is: start.user.value.id, limit: SignInTransaction.challengedLimit)
            .map { try StoredTransaction($0).value }
        let asker = PushChallenge.Asker(of: start.transaction, subject)
        let enrollments = subject.enrollments.usable.filter { start.enrollmentID ?? $0.id == $0.id }
        // Checked before the limits, which would reveal that the account exists.
        try start.requireUsable(subject, in: view)
        try PushLimits(asked: recent, of: start.user.value, now: context.now).admit(asker, from: subject.origin)
        let asked = AuthenticationContextClass.preferred(of: start.transaction.contextClasses)
        let needsTwo = subject.decision.assurance.needsTwoFactors || subject.demandsTwoFactors || asked == .twoFactors
        let remaining = start.transaction.expiresAt.timeIntervalSince(context.now)
        let plan = try ChallengePlan(
            .init(
                application: application, transactionType: start.transaction.purpose == .backchannel ? .ciba : .login,
                bindingMessage: start.bindingMessage, preferredAuthenticator: start.preferredAuthenticator,
                lifetime: min(ChallengePlan.lifetime, remaining), asker: asker,
                askedFrom: start.transaction.purpose == .signIn ? subject.origin : nil,
                mustVerifyUser: needsTwo && !start.transaction.proofs.contains { $0.factorClasses.contains(.knowledge) }),
            to: start.user.value, enrollments: enrollments, snapshot: snapshot, random: environment.random, context: context)
        return PlannedChallenge(start: start, subject: subject, plan: plan, snapshot: snapshot)
    }

    /// Returns the writes and the response of a planned challenge.
    package func commitment(of planned: PlannedChallenge, context: RequestContext) throws -> Plan<Result<StartedPush, Refusal>> {
        let start = planned.start
        let (next, outcome, effects) = start.transaction.step(.challenged(planned.plan.challenge, planned.subject), now: context.now)
        var writes = Writes()
        for case .log(let type, let outcome, let reason) in effects {
            writes.log(
                type, outcome, reason: reason, userID: start.user.value.id, clientID: start.transaction.applicationID,
                server: start.transaction.server)
        }
        guard case .challenged = outcome, let challenge = next.challenge else {
            guard case .refused(let refusal) = outcome else { return Plan(.failure(.overTransaction), writes) }
            return Plan(.failure(refusal), writes)
        }
        let owner = RecordReference(.transaction, next.id)
        let secret = try environment.random.secret(prefix: start.ticket == .oobCode ? "oob_" : "ft_")
        // The secrets of an earlier challenge become invalid; the mfa_token stays valid.
        for old in start.transaction.challenge?.targets ?? [] { writes += [.close(.pushChallenge, digest: TicketDigest(of: old.id))] }
        if let old = start.transaction.challengeTicket { writes += [.close(start.ticket, digest: TicketDigest(bytes: old))] }
        var stored = next
        stored.challengeTicket = TicketDigest(of: secret).bytes
        // Written even if unchanged, so that two concurrent challenges of this user cause a version conflict.
        var user = start.user.value
        user.countPush(challenge, at: context.now)
        let expiresAt = challenge.expiresAt.addingTimeInterval(SignInTransaction.keptAfter)
        func ticket(_ kind: TicketKind, _ secret: String) -> Change {
            .issue(Ticket(kind: kind, digest: TicketDigest(of: secret), owner: owner, use: .untilClosed, expiresAt: expiresAt))
        }
        writes += [
            .put(try stored.record(version: start.version)), .put(try start.user.record(holding: user)), ticket(start.ticket, secret),
        ]
        writes += challenge.targets.map { ticket(.pushChallenge, $0.id) }
        writes.outbox += try PushMessage.all(
            of: challenge, in: stored, to: planned.plan.enrollments, snapshot: planned.snapshot, now: context.now
        ).map(OutboxEntry.push)
        return Plan(.success(StartedPush(challenge: challenge, secret: secret)), writes)
    }
}

/// The parameters of a new challenge.
package struct ChallengeStart: Sendable {
    package var transaction: SignInTransaction
    /// The version of the stored transaction; 0 for a new one.
    package var version: Int64
    /// The stored user with the version that the write requires.
    package var user: StoredUser
    /// The `challenge_type` of the response; `nil` for a first factor.
    package var type: String?
    package var bindingMessage: String?
    package var preferredAuthenticator: String?
    /// The id of the enrollment to challenge; `nil` for all suitable ones.
    package var enrollmentID: String?
    package var ticket = TicketKind.oobCode
    /// The reason for the log why the user cannot be challenged; `nil` for none. The error is thrown only after all reads, as for a user
    /// without a device.
    package var obstacle: String?
    /// The stand-in for the user of an unknown name; `nil` for an existing user.
    package var decoy: Decoy?
    /// The credential id that the response names if the user has no passkey; `nil` after the first factor.
    package var decoyCredentials: [String] = []
    /// The ``Decoy/number`` of the account that replaces an unknown one; `nil` if the user can sign in.
    package var decoyNumber: Int?

    package init(stored: StoredTransaction, user: StoredUser, type: String) {
        (transaction, version, self.user, self.type) = (stored.value, stored.version, user, type)
    }

    package init(new transaction: SignInTransaction, user: StoredUser) {
        (self.transaction, version, self.user) = (transaction, 0, user)
    }
}

extension ChallengeStart {
    /// Completes the reads, then throws ``Refusal`` if the user cannot be challenged or the policy denies access.
    package func requireUsable(_ subject: SignInTransaction.Subject, in view: any StoreView) throws {
        // Reads the decoy's factors, as for an existing user.
        try decoy?.readFactors(in: view)
        if let obstacle { throw ChallengePlan.unusable(obstacle) }
        if subject.decision.assurance == .deny { throw transaction.denied(by: subject.decision) }
    }
}

/// A challenge that passed all checks and is not stored yet.
package struct PlannedChallenge: Sendable {
    package var start: ChallengeStart
    package var subject: SignInTransaction.Subject
    package var plan: ChallengePlan
    var snapshot: OrgSnapshot
}

/// A push challenge and the secret for the client; the caller gets them after the commit.
package struct StartedPush: Sendable {
    package var challenge: PushChallenge
    /// The secret with which the client polls for the response.
    package var secret: String
}

extension StoreView {
    /// Returns the writes that cancel the transaction of an `mfa_token`, `oob_code` or `auth_req_id`. A later approval has no effect, and
    /// the device gets an error. Returns `nil` for another kind of token; empty writes if the token is unknown or expired, or belongs to
    /// another client.
    /// - Parameters:
    ///   - clientID: The authenticated client.
    ///   - server: The authorization server's id; `nil` for the org server.
    package func cancellation(by secret: String, clientID: String, server: String?, now: Date) throws -> Writes? {
        guard let kind = TicketKind(ofChallengeSecret: secret) else { return nil }
        // A code that a newer challenge replaced is invalid: cancelling it must not end the sign-in.
        guard case (let stored, .fresh)? = try transaction(kind, secret: secret, now: now), stored.value.applicationID == clientID,
            stored.value.server == server, stored.value.end == nil
        else { return Writes() }
        let (next, _, effects) = stored.value.step(.cancelled, now: now)
        let changes = [try stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
        return try Writes(effects, of: next, user: nil) + changes
    }
}

extension TicketKind {
    /// The kind of an `mfa_token`, `oob_code` or `auth_req_id` by its prefix; `nil` for another text.
    package init?(ofChallengeSecret secret: String) {
        let kinds = ["mfa_": TicketKind.mfaToken, "oob_": .oobCode, "ft_": .backchannelRequest]
        guard let kind = kinds.first(where: { secret.hasPrefix($0.key) })?.value else { return nil }
        self = kind
    }
}
