internal import Foundation
internal import JOSE

extension IdentityEngine {
    /// Answers a request to the token endpoint (RFC 6749 section 3.2).
    ///
    /// The phases, in this order: the server exists, the client is who it says, the grant type is known, the client may use it;
    /// then the grant's own handler. What must survive is committed, with a line of the system log, before this returns; a refusal
    /// of somebody who proved nothing leaves no line. Rate
    /// limits are the front door's to ask (``countRequest(clientID:snapshot:context:)``), since it tells them in its headers.
    ///
    /// - Parameters:
    ///   - request: The request, its parameters not yet checked.
    ///   - context: When and from where it came.
    /// - Returns: Tokens, or a refusal as the protocol spells it.
    /// - Throws: ``StoreError`` if the store failed; then no token was issued.
    public func token(_ request: TokenRequest, context: RequestContext) async throws -> Result<TokenResponse, Refusal> {
        // Once, and outside of the store's read: it takes a signature check, and asks nothing.
        let proof = request.proof.map { proofs.genuine($0, with: nil, now: context.now) }
        return try await transact(context) { [self] cached in
            try decidableByConfiguration(request, proof: proof, snapshot: cached, context: context)
        } read: { [self] reading in
            try TokenState(request) { admitted in
                admitted = try admit(request, proof: proof, snapshot: reading.snapshot, context: context)
                admitted?.isRepeated = reading.isRepeated
                admitted?.hasConflicted = reading.hasConflicted
                if !reading.hasConflicted { try admitted?.refuseRepeatedUse(in: reading.view) }
                return try admitted.map { try handlerType(for: $0).init($0, reading: reading) }
            }
        } check: { state in
            try state.check(self)
        } needsMore: { state, verdict in
            state.needsMore(verdict)
        } decide: { state, verdict in
            plan(try state.decide(self, verdict), of: state)
        }
    }

    /// The writes and the answer of a decision.
    private func plan(_ decision: TokenDecision, of state: TokenState) -> Plan<Result<TokenResponse, Refusal>> {
        let admitted = state.admitted
        let type = "token.grant." + (admitted?.knownGrantType ?? "none")
        let (clientID, server) = (admitted?.application.id, state.request.server)
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
            // clients, except polls. Other refusals are only in the access log, because an attacker could fill the disk with them.
            let isWaiting = refusal.code == .authorizationPending || refusal.code == .slowDown
            let isUnlogged = !writes.changes.isEmpty && writes.events.isEmpty
            if (admitted?.application.isConfidential == true && !isWaiting) || isDenied || userID != nil || isUnlogged {
                plan.writes.log(
                    type, isDenied ? .denied : .failure, reason: refusal.reason, userID: userID, clientID: clientID, server: server)
            }
            if isGuess { plan.kept = plan.writes }
            // A refusal without other writes does not store the use of the proof, because repeating the request gains nothing.
            if plan.writes.isEmpty, admitted?.assertionUse == nil { return plan }
        }
        plan.uses = (admitted?.assertionUses(logging: type) ?? []) + (admitted?.proofUses() ?? [])
        return plan
    }

    /// The state of a request whose grant asks nothing but the configuration; `nil` for other requests and for those that are refused.
    private func decidableByConfiguration(
        _ request: TokenRequest, proof: Result<DPoPProof, Refusal>?, snapshot: OrgSnapshot, context: RequestContext
    ) throws -> TokenState? {
        let state = try TokenState(request) { admitted in
            admitted = try admit(request, proof: proof, snapshot: snapshot, context: context)
            guard let admitted, let type = try handlerType(for: admitted) as? any ConfigurationGrantHandler.Type else { return nil }
            return try type.init(admitted)
        }
        if case .success(_?) = state.handler { return state }
        return nil
    }

    /// The phases up to the authenticated client and its key.
    ///
    /// A proof is judged after the client, and before anything is used up: who is told to repeat the request with a nonce has lost
    /// neither its assertion nor its code.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - proof: What ``ProofJudge/genuine(_:with:now:)`` said of its proof; nil if it carries none, and where none is asked for.
    ///   - snapshot: The configuration to decide by.
    ///   - context: When and from where it came.
    /// - Returns: The request with its client, and the key that was shown.
    /// - Throws: ``Refusal``.
    func admit(
        _ request: TokenRequest, proof: Result<DPoPProof, Refusal>? = nil, snapshot: OrgSnapshot, context: RequestContext
    ) throws(Refusal) -> AdmittedRequest {
        let server = try snapshot.knownServer(request.server)
        let client = try ClientAuthenticator(snapshot: snapshot, server: server, now: context.now).authenticate(request.client)
        var possession: ProofOfPossession?
        if let proof {
            possession = try proofs.possession(proof.get(), nonceIsDemanded: snapshot.dpop.requiresNonce, now: context.now)
        }
        return AdmittedRequest(
            snapshot: snapshot, server: server, application: client.application, grantType: request.parameters["grant_type"] ?? "",
            parameters: request.parameters, context: context, assertionUse: client.assertionUse, proof: possession)
    }

    /// The phases that concern the grant type.
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

/// A token request as one read finds it.
private struct TokenState: Sendable {
    let request: TokenRequest
    /// `nil` if the request was refused before its client was authenticated.
    let admitted: AdmittedRequest?
    /// The grant's handler; a refusal if the shared phases or the handler's read refused the request.
    let handler: Result<(any GrantHandler)?, Refusal>

    init(_ request: TokenRequest, _ body: (inout AdmittedRequest?) throws -> (any GrantHandler)?) throws {
        var admitted: AdmittedRequest?
        do {
            handler = .success(try body(&admitted))
        } catch let refusal as Refusal {
            handler = .failure(refusal)
        }
        (self.request, self.admitted) = (request, admitted)
    }

    func check(_ engine: IdentityEngine) throws -> Check<GrantVerdict>? {
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

    func decide(_ engine: IdentityEngine, _ verdict: GrantVerdict?) throws -> TokenDecision {
        do {
            guard let handler = try handler.get() else { throw Refusal.overTransaction }
            return try handler.decide(engine, verdict?.get())
        } catch let refusal as Refusal {
            return .refused(refusal, Writes(), userID: nil)
        }
    }
}

extension OrgSnapshot {
    /// The server that a path names.
    /// - Throws: ``Refusal`` with ``Refusal/Code/notFound``.
    func knownServer(_ id: String?) throws(Refusal) -> AuthorizationServerDefinition {
        guard let server = server(id) else {
            throw Refusal(.notFound, "Not found: there is no such authorization server.", reason: "server.unknown")
        }
        return server
    }
}
