internal import Foundation
internal import JOSE

extension IdentityEngine {
    /// Starts a challenge for the sign-in that `find` returns. With `isNamed`, the request names the user. Unknown names are then logged
    /// like users without a device, so that the response time does not reveal whether the account exists.
    func start(
        _ request: TokenRequest, context: RequestContext, isNamed: Bool = false,
        find: @escaping @Sendable (AdmittedRequest, Reading<Never>) throws -> ChallengeStart
    ) async throws -> Result<StartedChallenge, Refusal> {
        try await transact(request, context: context) { refusal, admitted, found in
            let isDenied = refusal.code == .accessDenied
            guard admitted?.application.isConfidential == true || found?.userID != nil || (isNamed && isDenied) else { return nil }
            return LoggedEvent(
                "user.mfa.push.challenge", isDenied ? .denied : .failure, reason: refusal.reason, userID: found?.userID,
                clientID: admitted?.application.id, server: request.server)
        } read: { [self] admitted, reading in
            let start = try find(admitted, reading)
            let planned: Result<PlannedChallenge, Refusal>
            do { planned = .success(try plan(start, admitted, reading.view)) } catch let refusal as Refusal { planned = .failure(refusal) }
            return FoundChallenge(userID: start.obstacle == nil ? start.user.value.id : nil, planned: planned)
        } decide: { (found: FoundChallenge) in
            try commitment(of: found.planned.get(), context: context)
        }
    }

    /// What is asked of which devices, by limits and policies.
    func plan(_ start: ChallengeStart, _ admitted: AdmittedRequest, _ view: any StoreView) throws -> PlannedChallenge {
        let context = admitted.context
        guard let subject = try view.subject(start.user.value, of: start.transaction, snapshot: admitted.snapshot, from: context) else {
            throw Refusal.overTransaction
        }
        let recent = try view.records(.transaction, where: "challenged", is: start.user.value.id, limit: 1_000)
            .map { try StoredTransaction($0).value }
        let asker = PushChallenge.Asker(of: start.transaction, subject)
        let enrollments = subject.enrollments.usable.filter { start.enrollmentID ?? $0.id == $0.id }
        // Checked before the limits, which would reveal that the account exists.
        try start.requireUsable(subject, in: view)
        try PushLimits(asked: recent, of: start.user.value, now: context.now).admit(asker, from: subject.origin)
        let asked = AuthenticationContextClass.preferred(of: start.transaction.contextClasses)
        let needsTwo = subject.decision.assurance == .twoFactors || subject.demandsTwoFactors || asked == .twoFactors
        let remaining = start.transaction.expiresAt.timeIntervalSince(context.now)
        let plan = try ChallengePlan(
            .init(
                application: admitted.application, transactionType: start.transaction.purpose == .backchannel ? .ciba : .login,
                bindingMessage: start.bindingMessage, preferredAuthenticator: start.preferredAuthenticator,
                lifetime: min(ChallengePlan.lifetime, remaining), asker: asker,
                askedFrom: start.transaction.purpose == .signIn ? subject.origin : nil,
                mustVerifyUser: needsTwo && !start.transaction.proofs.contains { $0.factorClasses.contains(.knowledge) }),
            to: start.user.value, enrollments: enrollments, snapshot: admitted.snapshot, random: environment.random, context: context)
        return PlannedChallenge(start: start, subject: subject, plan: plan, admitted: admitted)
    }

    /// The writes and the answer of a planned challenge.
    func commitment(of planned: PlannedChallenge, context: RequestContext) throws -> Plan<Result<StartedChallenge, Refusal>> {
        let start = planned.start
        let (next, outcome, effects) = start.transaction.step(.challenged(planned.plan.challenge, planned.subject), now: context.now)
        var writes = Writes()
        for case .log(let type, let outcome, let reason) in effects {
            writes.log(
                type, outcome, reason: reason, userID: start.user.value.id, clientID: planned.admitted.application.id,
                server: planned.admitted.server.id)
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
        let pushes = try PushMessage.all(
            of: challenge, in: stored, to: planned.plan.enrollments, snapshot: planned.admitted.snapshot, now: context.now)
        let members = Self.members(of: challenge, start: start, secret: secret, now: context.now)
        return Plan(.success(StartedChallenge(members: members, pushes: pushes)), writes)
    }

    private static func members(of challenge: PushChallenge, start: ChallengeStart, secret: String, now: Date) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "expires_in": .integer(Int64(clamping: challenge.expiresAt.timeIntervalSince(now))),
            "interval": .integer(Int64(PollPacer.interval)),
        ]
        if start.ticket == .backchannelRequest {
            members["auth_req_id"] = .string(secret)
            return members
        }
        members["oob_code"] = .string(secret)
        members["channel"] = "push"
        members["binding_method"] = challenge.numbers == nil ? "none" : "transfer"
        members["binding_code"] = challenge.numbers.map { .string($0.right) }
        members["challenge_type"] = start.type.map(JSONValue.string)
        return members
    }
}

/// A challenge as one read finds it.
private struct FoundChallenge: Sendable {
    /// The user who would be asked; `nil` for an unknown one.
    var userID: String?
    var planned: Result<PlannedChallenge, Refusal>
}

/// A challenge that can be started.
struct PlannedChallenge: Sendable {
    var start: ChallengeStart
    var subject: SignInTransaction.Subject
    var plan: ChallengePlan
    var admitted: AdmittedRequest
}
