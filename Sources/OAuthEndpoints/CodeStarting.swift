internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire
package import Store

/// Codes by text message and call in direct authentication (Documentation/Protocol/OAuth.md §2.5, §2.6 and §6.5). The client receives an
/// `oob_code` and sends it back with the code that the user received.
extension Engine {
    /// Returns the channel of a requested code; `nil` for a push and for unsupported channels.
    package static func codeChannel(_ request: TokenRequest) -> CodeChannel? {
        switch request.parameters["channel_hint"] {
        case "sms": .sms
        case "voice": .voice
        default: nil
        }
    }

    /// Sends a code for the sign-in that `find` returns; `lookup` returns its rows.
    package func startCode(
        _ channel: CodeChannel, _ request: TokenRequest, context: RequestContext, lookup: @escaping @Sendable () -> Lookup,
        find: @escaping @Sendable (AdmittedRequest, Reading<Never>) throws -> ChallengeStart
    ) async throws -> Result<StartedChallenge, Refusal> {
        try await transact(request, context: context) { (refusal, admitted, _: CodeTarget?) in
            let isDenied = refusal.code == .accessDenied
            guard isDenied || admitted?.application.isConfidential == true else { return nil }
            return LoggedEvent(
                "user.mfa.code.send", isDenied ? .denied : .failure, reason: refusal.reason, clientID: admitted?.application.id,
                server: request.server)
        } lookup: {
            lookup()
        } read: { admitted, reading in
            try CodeTarget(channel, find(admitted, reading), admitted, reading.view)
        } decide: { (found: CodeTarget) in
            try plan(found, channel, context: context)
        }
    }

    private func plan(
        _ code: CodeTarget, _ channel: CodeChannel, context: RequestContext
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
        // An earlier challenge becomes invalid; the mfa_token stays valid.
        let closing = next.closingChallenge
        next.withdrawChallenge(now: context.now)
        let secret = try environment.random.secret(prefix: "oob_")
        next.challengeTicket = TicketDigest(of: secret).bytes
        next.meet(start.user.value)
        let expiresAt = min(prepared.expiresAt, next.expiresAt)
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
        return Plan(.success(StartedChallenge(members: members)), Writes(changes) + prepared.writes)
    }
}

/// The sign-in, and the enrollment that receives the code.
private struct CodeTarget: Sendable {
    let start: ChallengeStart
    let enrollment: Enrollment
    let snapshot: OrgSnapshot
    let application: Application

    /// Reads the data for a code; throws ``Refusal`` if no code may be sent.
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
        // Another factor of the same kind would not meet the requirement.
        if !transaction.proofs.isEmpty {
            guard case .factor(let kinds) = transaction.requirement(for: subject), kinds.contains(where: \.isOutOfBand)
            else {
                throw ChallengePlan.unusable("no further factor of this kind is asked for")
            }
        }
        guard let enrollment = subject.enrollments.usable.first(where: { $0.sentCode?.channel == channel }) else {
            throw ChallengePlan.unusable("the channel is not enrolled")
        }
        (self.start, self.enrollment, snapshot, application) = (start, enrollment, admitted.snapshot, admitted.application)
    }
}

extension Refusal {
    /// Returns the refusal of a code request, in the form of the challenge endpoints (Documentation/Protocol/OAuth.md §2.16).
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

/// A second factor by an authenticator app, which needs no message from the server (Documentation/Protocol/OAuth.md §2.6 and §6.4).
extension Engine {
    /// Returns whether the client requests the code of an authenticator app. If the client supports both challenge types, a `channel_hint`
    /// selects a push or a sent code.
    static func asksForCode(_ request: TokenRequest) -> Bool {
        let types = request.parameters["challenge_types_supported"]?.spaceSeparated ?? []
        guard types.contains(GrantType.secondFactorOTP) else { return false }
        return !types.contains(GrantType.secondFactorOOB) || request.parameters["channel_hint"]?.isEmpty ?? true
    }

    /// Starts a second factor by an authenticator app. Returns the challenge type, or a refusal if the user has no app. Writes nothing
    /// except the use of a client's assertion and the log event of a refusal.
    func codeChallenge(_ request: TokenRequest, context: RequestContext) async throws -> Result<StartedChallenge, Refusal> {
        try await transact(request, context: context) { (refusal, admitted, _: Bool?) in
            guard admitted?.application.isConfidential == true else { return nil }
            return LoggedEvent(
                "user.mfa.totp.challenge", .failure, reason: refusal.reason, clientID: admitted?.application.id, server: request.server)
        } lookup: {
            Lookup(.signIn(.mfaToken, secret: request.parameters["mfa_token"] ?? ""))
        } read: { [self] admitted, reading in
            let token = try admitted.required("mfa_token")
            try admitted.requireGrant(GrantType.secondFactorOTP)
            let (_, user) = try openTransaction(token, admitted, reading.view)
            return try reading.view.enrollments(of: user.value.id, snapshot: admitted.snapshot).usable.contains { $0.factor == .totp }
        } decide: { (hasApp: Bool) in
            guard hasApp else { throw ChallengePlan.unusable("no authenticator app is enrolled") }
            return Plan(.success(StartedChallenge(members: ["challenge_type": .string(GrantType.secondFactorOTP)])))
        }
    }
}
