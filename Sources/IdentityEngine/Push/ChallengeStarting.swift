internal import Foundation
internal import JOSE

extension IdentityEngine {
    /// Starts a challenge: one read, in which `find` says whose it is, the pure step, one commit. Where the request itself names the
    /// person, names that are nobody's are written down like those of people without a device, so that the time taken tells nothing.
    func start(
        _ request: TokenRequest, context: RequestContext, isNamed: Bool = false,
        find: @escaping @Sendable (AdmittedRequest, any StoreView) throws -> ChallengeStart
    ) async throws -> Result<StartedChallenge, Refusal> {
        for _ in 0..<Self.attempts {
            let reading = try await read(request, context: context, find: find)
            let plan: PlannedChallenge
            var changes = reading.admitted?.assertionUse.map { [$0] } ?? []
            switch reading.plan {
            case .failure(let refusal):
                // As at the token endpoint: whoever knows a public client's name could fill the disk with other refusals.
                let isDenied = refusal.code == .accessDenied
                if reading.admitted?.application.isConfidential == true || reading.userID != nil || (isNamed && isDenied) {
                    changes.append(
                        try challengeLog(isDenied ? .denied : .failure, refusal.reason, reading.admitted, request, reading.userID, context))
                }
                guard !changes.isEmpty else { return .failure(refusal) }
                if case .conflict = try await store.commit(changes) { return .failure(ClientAuthenticator.wrong("client.assertion: used")) }
                return .failure(refusal)
            case .success(let planned):
                plan = planned
            }
            let (committing, answer) = try commitment(of: plan, context: context)
            switch try await store.commit(changes + committing) {
            case .committed: return try answer()
            case .conflict(index: 0, .version) where reading.admitted?.assertionUse != nil:
                return .failure(ClientAuthenticator.wrong("client.assertion: used"))
            case .conflict: continue
            }
        }
        throw StoreError(.unavailable, "The request met other writers \(Self.attempts) times. Try it again.")
    }

    /// What the read found.
    private struct Reading: Sendable {
        var admitted: AdmittedRequest?
        /// Who would be asked; nil if nobody was found.
        var userID: String?
        var plan: Result<PlannedChallenge, Refusal>
    }

    private func read(
        _ request: TokenRequest, context: RequestContext,
        find: @escaping @Sendable (AdmittedRequest, any StoreView) throws -> ChallengeStart
    ) async throws -> Reading {
        try await store.read { [self] view in
            var admitted: AdmittedRequest?
            var userID: String?
            do {
                let known = try admit(request, snapshot: snapshot(view), context: context)
                admitted = known
                let start = try find(known, view)
                userID = start.obstacle == nil ? start.user.value.id : nil
                return Reading(admitted: known, userID: userID, plan: .success(try plan(start, known, view)))
            } catch let refusal as Refusal {
                return Reading(admitted: admitted, userID: userID, plan: .failure(refusal))
            }
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
        let enrollments = try view.usableEnrollments(of: start.user.value.id, snapshot: admitted.snapshot)
            .filter { start.enrollmentID ?? $0.id == $0.id }
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

    /// The changes of a planned challenge, and what is answered when they are committed.
    func commitment(
        of planned: PlannedChallenge, context: RequestContext
    ) throws -> ([Change], () throws -> Result<StartedChallenge, Refusal>) {
        let start = planned.start
        let (next, outcome, effects) = start.transaction.step(.challenged(planned.plan.challenge, planned.subject), now: context.now)
        var changes: [Change] = []
        for case .log(let type, let outcome, let reason) in effects {
            changes.append(
                try logEntry(
                    type, outcome, reason: reason, userID: start.user.value.id, clientID: planned.admitted.application.id,
                    server: planned.admitted.server.id, context: context))
        }
        guard case .challenged = outcome, let challenge = next.challenge else {
            guard case .refused(let refusal) = outcome else { return (changes, { .failure(.overTransaction) }) }
            return (changes, { .failure(refusal) })
        }
        let owner = RecordReference(.transaction, next.id)
        let secret = try environment.random.secret(prefix: start.ticket == .oobCode ? "oob_" : "ft_")
        // Whatever led to an earlier challenge leads nowhere from now on; the mfa_token stays good.
        for old in start.transaction.challenge?.targets ?? [] { changes.append(.close(.pushChallenge, digest: TicketDigest(of: old.id))) }
        if let old = start.transaction.challengeTicket { changes.append(.close(start.ticket, digest: TicketDigest(bytes: old))) }
        var stored = next
        stored.challengeTicket = TicketDigest(of: secret).bytes
        changes.append(.put(try stored.record(version: start.version)))
        // Rewritten unchanged, so that two concurrent challenges of this user cause a version conflict.
        var user = start.user.value
        user.countPush(challenge, at: context.now)
        changes.append(.put(try start.user.record(holding: user)))
        changes.append(
            .issue(
                Ticket(
                    kind: start.ticket, digest: TicketDigest(of: secret), owner: owner, use: .untilClosed,
                    expiresAt: challenge.expiresAt.addingTimeInterval(SignInTransaction.keptAfter))))
        for target in challenge.targets {
            changes.append(
                .issue(
                    Ticket(
                        kind: .pushChallenge, digest: TicketDigest(of: target.id), owner: owner, use: .untilClosed,
                        expiresAt: challenge.expiresAt.addingTimeInterval(SignInTransaction.keptAfter))))
        }
        return (
            changes,
            { [admitted = planned.admitted, enrollments = planned.plan.enrollments] in
                let pushes = try PushMessage.all(
                    of: challenge, in: stored, to: enrollments, snapshot: admitted.snapshot, now: context.now)
                return .success(
                    StartedChallenge(members: Self.members(of: challenge, start: start, secret: secret, now: context.now), pushes: pushes))
            }
        )
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

    private func challengeLog(
        _ outcome: LogEvent.Outcome, _ reason: String, _ admitted: AdmittedRequest?, _ request: TokenRequest, _ userID: String?,
        _ context: RequestContext
    ) throws -> Change {
        try logEntry(
            "user.mfa.push.challenge", outcome, reason: reason, userID: userID, clientID: admitted?.application.id, server: request.server,
            context: context)
    }
}

/// A challenge that can be started.
struct PlannedChallenge: Sendable {
    var start: ChallengeStart
    var subject: SignInTransaction.Subject
    var plan: ChallengePlan
    var admitted: AdmittedRequest
}
