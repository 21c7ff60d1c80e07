internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire
internal import Store

/// Codes by text and call in direct authentication (oauth reference 2.5, 2.6 and 6.5): the client is given an `oob_code`, and brings it
/// back together with what the person received.
extension Engine {
    /// The channel of a code that a client asks for; nil for a push, or for what is none.
    package static func codeChannel(_ request: TokenRequest) -> CodeChannel? {
        switch request.parameters["channel_hint"] {
        case "sms": .sms
        case "voice": .voice
        default: nil
        }
    }

    /// Sends a code for the sign-in that `find` returns.
    package func startCode(
        _ channel: CodeChannel, _ request: TokenRequest, context: RequestContext,
        find: @escaping @Sendable (AdmittedRequest, Reading<Never>) throws -> ChallengeStart
    ) async throws -> Result<StartedChallenge, Refusal> {
        try await transact(request, context: context) { (refusal, admitted, _: FoundCode?) in
            let isDenied = refusal.code == .accessDenied
            guard isDenied || admitted?.application.isConfidential == true else { return nil }
            return LoggedEvent(
                "user.mfa.code.send", isDenied ? .denied : .failure, reason: refusal.reason, clientID: admitted?.application.id,
                server: request.server)
        } read: { admitted, reading in
            try FoundCode(channel, find(admitted, reading), admitted, reading.view)
        } decide: { (found: FoundCode) in
            try plan(found, channel, context: context)
        }
    }

    /// The writes and the answer.
    private func plan(
        _ code: FoundCode, _ channel: CodeChannel, context: RequestContext
    ) throws -> Plan<Result<StartedChallenge, Refusal>> {
        let start = code.start
        var next = start.transaction
        let prepared: PreparedCode
        do {
            prepared = try prepareCode(
                CodeRequest(purpose: .signIn, owner: next.id, applicationName: code.application.name), for: code.enrollment,
                of: start.user.value, snapshot: code.snapshot, context: context)
        } catch let refusal as CodeRefusal {
            throw Refusal.codeNotSent(refusal, now: context.now)
        }
        // Whatever led to an earlier challenge leads nowhere from now on; the mfa_token stays good.
        let closing = next.closingChallenge
        next.withdrawChallenge(now: context.now)
        let secret = try environment.random.secret(prefix: "oob_")
        next.challengeTicket = TicketDigest(of: secret).bytes
        next.meet(start.user.value)
        let expiresAt = min(prepared.message.expiresAt, next.expiresAt)
        let ticket = Ticket(
            kind: .oobCode, digest: TicketDigest(of: secret), owner: RecordReference(.transaction, next.id), use: .untilClosed,
            expiresAt: expiresAt, payload: Array(channel.rawValue.utf8))
        var members: [String: JSONValue] = [
            "oob_code": .string(secret), "channel": .string(channel.rawValue), "binding_method": "prompt",
            "expires_in": .integer(Int64(clamping: expiresAt.timeIntervalSince(context.now))),
            "interval": .integer(Int64(PollPacer.interval)),
        ]
        members["challenge_type"] = start.type.map(JSONValue.string)
        let changes = closing + [.put(try next.record(version: start.version)), .issue(ticket)]
        return Plan(
            .success(StartedChallenge(members: members, pushes: [], messages: [prepared.message])), Writes(changes) + prepared.writes)
    }
}

/// Whose code is sent, as one read found it.
private struct FoundCode: Sendable {
    let start: ChallengeStart
    let enrollment: Enrollment
    let snapshot: OrgSnapshot
    let application: Application

    /// Throws ``Refusal`` if no code can be asked for.
    init(_ channel: CodeChannel, _ start: ChallengeStart, _ admitted: AdmittedRequest, _ view: any StoreView) throws {
        let user = start.user.value
        let now = admitted.context.now
        let transaction = start.transaction
        guard let subject = try view.subject(user, of: transaction, snapshot: admitted.snapshot, from: admitted.context) else {
            throw Refusal.overTransaction
        }
        if start.obstacle != nil { try start.requireUsable(subject, in: view) }
        guard transaction.end == nil, now < transaction.expiresAt, transaction.isAbout(user), user.status == .active else {
            throw Refusal.overTransaction
        }
        if transaction.isRejectedForGood { throw Refusal.rejectedOnDevice }
        try start.requireUsable(subject, in: view)
        // Another of the same kind would prove nothing more.
        if !transaction.proofs.isEmpty {
            guard case .factor(let grants) = transaction.requirement(for: subject), grants.contains(GrantType.secondFactorOOB)
            else {
                throw ChallengePlan.unusable("no further factor of this kind is asked for")
            }
        }
        guard let enrollment = subject.enrollments.usable.first(where: { $0.code?.channel == channel }) else {
            throw ChallengePlan.unusable("the channel is not enrolled")
        }
        (self.start, self.enrollment, snapshot, application) = (start, enrollment, admitted.snapshot, admitted.application)
    }
}

extension Refusal {
    /// A code was not sent, as the challenge endpoints spell it (oauth reference 2.16).
    fileprivate static func codeNotSent(_ refusal: CodeRefusal, now: Date) -> Refusal {
        switch refusal {
        case .tooSoon(_, let until), .tooMany(_, let until):
            var wait = Refusal(
                .invalidGrant, "A code was sent a moment ago. Wait before you ask for another.", reason: refusal.reason,
                status: .tooManyRequests, rateLimit: RateLimitStatus(limit: 1, remaining: 0, reset: until, isAdmitted: false))
            wait.isForUser = true
            return wait
        default: return ChallengePlan.unusable(refusal.reason)
        }
    }
}

/// A second factor that takes no step of the server's: the person has a code to type already (oauth reference 2.6 and 6.4).
extension Engine {
    /// Whether a client asks for a code rather than for something out of band. Of a client that can do both, the channel tells.
    static func asksForCode(_ request: TokenRequest) -> Bool {
        let types = request.parameters["challenge_types_supported"]?.spaceSeparated ?? []
        guard types.contains(GrantType.secondFactorOTP) else { return false }
        return !types.contains(GrantType.secondFactorOOB) || request.parameters["channel_hint"]?.isEmpty ?? true
    }

    /// Says whether a code will do. Nothing is started, and nothing is written but the use of a client's assertion.
    func codeChallenge(_ request: TokenRequest, context: RequestContext) async throws -> Result<StartedChallenge, Refusal> {
        try await transact(request, context: context) { (refusal, admitted, _: Bool?) in
            guard admitted?.application.isConfidential == true else { return nil }
            return LoggedEvent(
                "user.mfa.totp.challenge", .failure, reason: refusal.reason, clientID: admitted?.application.id, server: request.server)
        } read: { [self] admitted, reading in
            let token = try admitted.required("mfa_token")
            try admitted.requireGrant(GrantType.secondFactorOTP)
            let (_, user) = try openTransaction(token, admitted, reading.view)
            return try reading.view.enrollments(of: user.value.id, snapshot: admitted.snapshot).usable.contains { $0.factor == .totp }
        } decide: { (hasApp: Bool) in
            guard hasApp else { throw ChallengePlan.unusable("no authenticator app is enrolled") }
            return Plan(.success(StartedChallenge(members: ["challenge_type": .string(GrantType.secondFactorOTP)], pushes: [])))
        }
    }
}
