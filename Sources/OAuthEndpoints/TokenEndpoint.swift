internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire
internal import Store

extension Engine {
    /// Answers a request to the token endpoint (RFC 6749 section 3.2). The phases in order: find the server, authenticate the client, find
    /// the grant type, check that the client may use it, run the grant's handler. The result is committed with its log event before this
    /// function returns. The HTTP endpoint applies the rate limits (``countRequest(clientID:snapshot:context:)``), because its headers
    /// report them.
    package func token(_ request: TokenRequest, context: RequestContext) async throws -> Result<TokenResponse, Refusal> {
        try await token(request, context: context, hold: nil).result
    }

    /// Answers a request that may be held: a poll whose user has not decided yet (CIBA Core 1.0 section 7.3). A held poll is decided again
    /// when its transaction changes, and at the end of the wait. It counts once for the rate limits and for the interval between polls.
    /// Deciding one request several times does not permit a replay:
    /// - The first decision commits the uses of the client's assertion and proof before the wait. So every other request with the same
    ///   assertion or proof is rejected, at each endpoint. (Without a wait, a pending poll does not store the use of its proof.)
    /// - Later decisions belong to the same request. They neither check nor commit these uses again.
    /// - The assertion and the proof are checked at the arrival time, so that neither expires during the wait. The client is checked again
    ///   in each decision, so that a deactivated client is rejected.
    /// - Parameters:
    ///   - context: The arrival time and the source of the request.
    ///   - hold: The permitted wait; `nil` to answer at once.
    package func token(_ request: TokenRequest, context: RequestContext, hold: PollHold?) async throws -> TokenAnswer {
        // The proof is verified once and outside of the store's read, because verifying a signature is slow and needs no state.
        let proof = request.proof.map { proofs.genuine($0, with: nil, now: context.now) }
        let attempt = TokenAttempt(request: request, proof: proof, arrival: context, context: context, canBeHeld: hold != nil)
        let decision = try await self.decision(on: attempt)
        guard let awaited = decision.awaited else { return TokenAnswer(decision.result) }
        guard !pollPacer.isTooFast(awaited.digest, now: context.now) else { return TokenAnswer(decision.result.mapError(Self.tooFast)) }
        guard let hold else { return TokenAnswer(decision.result) }
        guard let place = hold.place(for: awaited, address: context.address) else {
            // One slow_down tells the client the longer interval (RFC 8628 section 3.5). Each further slow_down would lengthen the interval
            // again, until the request expires.
            return TokenAnswer(pollPacer.slowDown(awaited.digest) ? decision.result.mapError(Self.tooFast) : decision.result)
        }
        defer { hold.leave(place) }
        return try await answer(to: attempt, after: decision, at: place, hold)
    }

    /// Waits until a poll has another result than `authorization_pending`, or until the hold ends.
    private func answer(
        to attempt: TokenAttempt, after first: AttemptDecision, at place: HeldPolls.Place, _ hold: PollHold
    ) async throws -> TokenAnswer {
        let deadline = attempt.arrival.now.addingTimeInterval(TimeInterval(hold.seconds))
        var attempt = attempt
        attempt.isResumed = true
        var decision = first
        var held = Duration.zero
        while let awaited = decision.awaited {
            let start = ContinuousClock.now
            let end = await hold.polls.wait(at: place, version: awaited.version, until: min(deadline, awaited.expiresAt))
            held += start.duration(to: .now)
            // A poll that lost its place is not decided again: tokens for a disconnected client would be lost.
            guard end != .released else { break }
            attempt.context.now = hold.polls.now
            decision = try await self.decision(on: attempt)
            guard end != .over else { break }
        }
        return TokenAnswer(decision.result, held: held)
    }

    private static func tooFast(_ pending: Refusal) -> Refusal {
        var refusal = Refusal(.slowDown, "You are polling too fast. Wait five seconds longer between requests.", reason: "poll: too fast")
        refusal.nextNonce = pending.nextNonce
        return refusal
    }

    /// Decides a request on the current state of the store.
    private func decision(on attempt: TokenAttempt) async throws -> AttemptDecision {
        try await transact(attempt.context) { [self] cached in
            try decidableByConfiguration(attempt, snapshot: cached)
        } lookup: { [self] verdict in
            lookup(attempt, verdict)
        } read: { [self] reading in
            try TokenState(attempt) { admitted in
                admitted = try admit(attempt, snapshot: reading.snapshot)
                admitted?.isRepeated = reading.isRepeated
                if !reading.hasConflicted, !attempt.isResumed { try admitted?.refuseRepeatedUse(in: reading.view) }
                return try admitted.map { try handlerType(for: $0).init($0, reading: reading) }
            }
        } check: { state in
            try state.check(self)
        } needsMore: { state, verdict in
            state.needsMore(verdict)
        } decide: { state, verdict in
            plan(try state.decide(self, verdict), of: state).map { AttemptDecision(result: $0, awaited: state.awaited(by: $0)) }
        }
    }

    private func lookup(_ attempt: TokenAttempt, _ verdict: GrantVerdict?) -> Lookup {
        let request = attempt.request
        guard let type = request.parameters["grant_type"], type.utf8.count <= 100, let handler = Self.grantHandlers[type] else {
            return Lookup()
        }
        let isProved = if case .success(let verdict)? = verdict { verdict.isProved } else { false }
        let uses = attempt.isResumed ? [] : request.rowsOfUses(attempt.proof)
        return Lookup(handler.lookup(request.parameters, isProved: isProved, self).nodes + uses)
    }

    private func plan(_ decision: TokenDecision, of state: TokenState) -> Plan<Result<TokenResponse, Refusal>> {
        let admitted = state.admitted
        let type = "token.grant." + (admitted?.knownGrantType ?? "none")
        let (clientID, server) = (admitted?.application.id, state.attempt.request.server)
        var plan: Plan<Result<TokenResponse, Refusal>>
        switch decision {
        case .issued(var response, let writes, let rule, let userID):
            response.nextNonce = admitted?.proof?.nextNonce
            plan = Plan(.success(response), writes)
            plan.writes.log(type, .success, reason: rule, userID: userID, clientID: clientID, server: server)
        case .refused(var refusal, let writes, let userID, let isGuess):
            refusal.nextNonce = refusal.nextNonce ?? admitted?.proof?.nextNonce
            plan = Plan(.failure(refusal), writes)
            let isDenied = refusal.code == .accessDenied
            // The system log gets access denials, refusals that concern a user (such as a reused token), and refusals of confidential
            // clients, except pending polls. Other refusals are only in the access log, because an attacker could fill the disk with them.
            let isWaiting = refusal.code == .authorizationPending || refusal.code == .slowDown
            let isUnlogged = !writes.changes.isEmpty && writes.events.isEmpty
            if (admitted?.application.isConfidential == true && !isWaiting) || isDenied || userID != nil || isUnlogged {
                plan.writes.log(
                    type, isDenied ? .denied : .failure, reason: refusal.reason, userID: userID, clientID: clientID, server: server)
            }
            if isGuess { plan.kept = plan.writes }
            // A refusal without other writes does not store the use of the proof, because repeating the request gains nothing. A poll that
            // may be held stores the use, because its repetition could fetch the tokens.
            let isHeld = state.attempt.canBeHeld && state.awaited(by: .failure(refusal)) != nil
            if plan.writes.isEmpty, admitted?.assertionUse == nil, !isHeld { return plan }
        }
        // A held poll committed its uses before the wait.
        guard !state.attempt.isResumed else { return plan }
        plan.uses = (admitted?.assertionUses(logging: type) ?? []) + (admitted?.proofUses() ?? [])
        return plan
    }

    /// The grant types that need only the configuration.
    private static let configurationGrants = Set(grantHandlers.filter { $0.value is any ConfigurationGrantHandler.Type }.keys)

    /// Returns the state of a request whose grant needs only the configuration; `nil` for other and refused requests.
    private func decidableByConfiguration(_ attempt: TokenAttempt, snapshot: OrgSnapshot) throws -> TokenState? {
        // Checked before the client authentication, because every other grant authenticates the client in its read.
        guard let type = attempt.request.parameters["grant_type"], type.utf8.count <= 100, Self.configurationGrants.contains(type) else {
            return nil
        }
        let state = try TokenState(attempt) { admitted in
            admitted = try admit(attempt, snapshot: snapshot)
            guard let admitted, let type = try handlerType(for: admitted) as? any ConfigurationGrantHandler.Type else { return nil }
            return try type.init(admitted)
        }
        if case .success(_?) = state.handler { return state }
        return nil
    }

    /// Authenticates the client at the time when the request arrived. The grant of a held poll is decided with `attempt.context`, which has
    /// the time after the wait.
    private func admit(_ attempt: TokenAttempt, snapshot: OrgSnapshot) throws(Refusal) -> AdmittedRequest {
        let admitted = try admit(attempt.request, proof: attempt.proof, snapshot: snapshot, context: attempt.arrival)
        guard attempt.isResumed else { return admitted }
        return AdmittedRequest(
            snapshot: snapshot, server: admitted.server, application: admitted.application, grantType: admitted.grantType,
            parameters: admitted.parameters, context: attempt.context, assertionUse: admitted.assertionUse, proof: admitted.proof)
    }

    /// Returns the handler, after checking that the client may use the grant type. Throws ``Refusal``.
    private func handlerType(for request: AdmittedRequest) throws(Refusal) -> any GrantHandler.Type {
        let type = try request.required("grant_type")
        guard let handlerType = type == request.knownGrantType ? Self.grantHandlers[type] : nil else {
            throw Refusal(.unsupportedGrantType, "The authorization server does not support this grant_type.", reason: "grant.unknown")
        }
        guard request.application.grantTypes.contains(type) else {
            throw Refusal(
                .unauthorizedClient, "The client is not authorized to use the grant_type \"\(type)\". Enable it for the application.",
                reason: "grant.not_enabled")
        }
        guard !request.application.dpopBoundAccessTokens || request.proof != nil else {
            throw .invalidProof("The client's tokens are bound to a key: send a proof in the header DPoP.", reason: "dpop: required")
        }
        return handlerType
    }
}

/// The answer of the token endpoint to one request.
package struct TokenAnswer: Sendable {
    package var result: Result<TokenResponse, Refusal>
    /// The time for which the request was held; `nil` if it was answered at once.
    package var held: Duration?

    fileprivate init(_ result: Result<TokenResponse, Refusal>, held: Duration? = nil) {
        self.result = result
        self.held = held
    }
}

/// An attempt to decide a token request: the first attempt, or one after a wait.
private struct TokenAttempt: Sendable {
    let request: TokenRequest
    /// The client's proof of possession, verified once; `nil` for a request without a proof.
    let proof: Result<DPoPProof, Refusal>?
    /// The request's context at arrival.
    let arrival: RequestContext
    /// The request's context with the time of this attempt.
    var context: RequestContext
    /// Whether the server may hold the request while the result is `authorization_pending`.
    let canBeHeld: Bool
    /// Whether an earlier attempt committed the uses of the assertion and the proof.
    var isResumed = false
}

/// The result of one attempt.
private struct AttemptDecision: Sendable {
    var result: Result<TokenResponse, Refusal>
    /// The decision that the client waits for after this result; `nil` unless the result is `authorization_pending`.
    var awaited: AwaitedDecision?
}

/// A token request and its handler, with the data of one read. A class, because the generic runner would copy each of its many members.
private final class TokenState: Sendable {
    let attempt: TokenAttempt
    /// The request with its authenticated client; `nil` if the request was refused before.
    let admitted: AdmittedRequest?
    /// The grant's handler; a refusal if the shared phases or the handler's read refused the request.
    let handler: Result<(any GrantHandler)?, Refusal>

    init(_ attempt: TokenAttempt, _ body: (inout AdmittedRequest?) throws -> (any GrantHandler)?) throws {
        var admitted: AdmittedRequest?
        do {
            handler = .success(try body(&admitted))
        } catch let refusal as Refusal {
            handler = .failure(refusal)
        }
        (self.attempt, self.admitted) = (attempt, admitted)
    }

    func check(_ engine: Engine) throws -> Check<GrantVerdict>? {
        guard case .success(let handler?) = handler else { return nil }
        do {
            return try handler.check(engine)
        } catch let refusal as Refusal {
            return Check(of: refusal) { .failure(refusal) }
        }
    }

    func needsMore(_ verdict: GrantVerdict) -> Bool {
        guard case .success(let handler?) = handler else { return false }
        return handler.needsMore(verdict)
    }

    /// The decision that the client waits for after this result; `nil` unless the result is `authorization_pending`.
    func awaited(by result: Result<TokenResponse, Refusal>) -> AwaitedDecision? {
        guard case .failure(let refusal) = result, refusal.code == .authorizationPending, case .success(let handler?) = handler else {
            return nil
        }
        return (handler as? any PollGrantHandler)?.awaited
    }

    func decide(_ engine: Engine, _ verdict: GrantVerdict?) throws -> TokenDecision {
        do {
            guard let handler = try handler.get() else { throw Refusal.overTransaction }
            return try handler.decide(engine, verdict?.get())
        } catch let refusal as Refusal {
            return .refused(refusal, Writes(), userID: nil)
        }
    }
}
