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
        for attempt in 0..<Self.attempts {
            let cached = attempt == 0 ? try await decideByCache(request, proof: proof, context: context) : nil
            let decided =
                if let cached { cached } else { try await decide(request, proof: proof, isRepeated: attempt > 0, context: context) }
            let admitted = decided.admitted
            var changes = admitted?.assertionUse.map { [$0] } ?? []
            if let use = admitted?.proof?.use { changes.append(use.change) }
            let uses = changes.count
            let result: Result<TokenResponse, Refusal>
            let type = "token.grant." + (admitted?.knownGrantType ?? "none")
            let server = request.server
            switch decided.decision {
            case .issued(let response, let own, let rule, let userID):
                var told = response
                told.nextNonce = admitted?.proof?.nextNonce
                result = .success(told)
                changes += own
                changes.append(
                    try logEntry(
                        type, .success, reason: rule, userID: userID, clientID: admitted?.application.id, server: server, context: context))
            case .refused(let refusal, let own, let userID):
                var told = refusal
                told.nextNonce = refusal.nextNonce ?? admitted?.proof?.nextNonce
                result = .failure(told)
                changes += own
                let isDenied = refusal.code == .accessDenied
                // Whoever knows a public client's name could fill the disk with refusals; the access log has them. What is told of
                // them: who was denied with the right password, and what was noticed of a user, such as a token that came back.
                // A client that waits is told so again and again; that is no news.
                let isWaiting = refusal.code == .authorizationPending || refusal.code == .slowDown
                if (admitted?.application.isConfidential == true && !isWaiting) || isDenied || userID != nil || !own.isEmpty {
                    changes.append(
                        try logEntry(
                            type, isDenied ? .denied : .failure, reason: refusal.reason, userID: userID,
                            clientID: admitted?.application.id, server: server, context: context))
                }
            }
            // A refusal that nobody needs to know of costs no write, also if it came with a proof: who repeats it gets no further.
            if case .failure = result, changes.count == uses, admitted?.assertionUse == nil { return result }
            if let version = decided.configuration { changes.append(.requireConfiguration(version)) }
            switch try await store.commit(changes) {
            case .committed:
                return result
            case .conflict(index: 0, .version) where admitted?.assertionUse != nil:
                let used = ClientAuthenticator.wrong("client.assertion: used")
                _ = try await store.commit([
                    try logEntry(
                        type, .failure, reason: used.reason, clientID: admitted?.application.id, server: server, context: context)
                ])
                return .failure(used)
            case .conflict(let index, .version) where index == uses - 1 && admitted?.proof != nil:
                return .failure(.usedProof)
            case .conflict:
                // Somebody else was faster; what they did decides how this one ends.
                continue
            }
        }
        throw StoreError(.unavailable, "The request met other writers \(Self.attempts) times. Try it again.")
    }

    /// How often a request is decided again before it is given up: of that many who use one token at the same moment, each
    /// gets its answer.
    static let attempts = 32

    /// What a request came to, and what it holds for.
    private struct Decided {
        /// Nil when the request was refused before its client was known.
        var admitted: AdmittedRequest?
        var decision: TokenDecision
        /// The configuration that it was decided by, if nobody asked the store for it.
        var configuration: Int64?
    }

    /// One read, then the handler's decision.
    private func decide(
        _ request: TokenRequest, proof: Result<DPoPProof, Refusal>?, isRepeated: Bool, context: RequestContext
    ) async throws -> Decided {
        enum Reading: Sendable {
            case refused(AdmittedRequest?, Refusal)
            case read(AdmittedRequest, any GrantHandler)
        }
        let reading: Reading = try await store.read { [self] view in
            var admitted: AdmittedRequest?
            do {
                var request = try admit(request, proof: proof, snapshot: snapshot(view), context: context)
                request.isRepeated = isRepeated
                admitted = request
                return .read(request, try handlerType(for: request).init(request, reading: view))
            } catch let refusal as Refusal {
                return .refused(admitted, refusal)
            }
        }
        switch reading {
        case .refused(let admitted, let refusal):
            return Decided(admitted: admitted, decision: .refused(refusal, changes: [], userID: nil))
        case .read(let admitted, let handler):
            do {
                return Decided(admitted: admitted, decision: try await decision(of: handler))
            } catch let refusal as Refusal {
                return Decided(admitted: admitted, decision: .refused(refusal, changes: [], userID: nil))
            }
        }
    }

    /// The decision of a grant that asks nothing but the configuration, by the cached one and without a read.
    ///
    /// - Returns: Tokens, which hold if the configuration is still the same when they are committed; nil if it takes a read to tell.
    ///   A refusal has nothing to commit, so it could not be held to the stored configuration: it always takes a read.
    private func decideByCache(
        _ request: TokenRequest, proof: Result<DPoPProof, Refusal>?, context: RequestContext
    ) async throws -> Decided? {
        guard let cached = latestSnapshot else { return nil }
        do {
            let admitted = try admit(request, proof: proof, snapshot: cached, context: context)
            guard let type = try handlerType(for: admitted) as? any ConfigurationGrantHandler.Type else { return nil }
            let handler = try type.init(admitted)
            let decision = try await decision(of: handler)
            guard case .issued = decision else { return nil }
            return Decided(admitted: admitted, decision: decision, configuration: cached.version)
        } catch is Refusal {
            return nil
        }
    }

    private func decision(of handler: some GrantHandler) async throws -> TokenDecision {
        guard type(of: handler).isQuick else { return try await handler.decide(self) }
        return try await store.preparingCommit { try await handler.decide(self) }
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
