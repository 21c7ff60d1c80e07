package import IdentityCore
package import JOSE
package import Store

/// A token request whose server, client and grant type were found good.
package struct AdmittedRequest: Sendable {
    package let snapshot: OrgSnapshot
    package let server: AuthorizationServerDefinition
    package let application: Application
    package let grantType: String
    package let parameters: [String: String]
    package let context: RequestContext
    /// Marks the client's assertion as used.
    package let assertionUse: Change?
    /// The key that the client has shown to have, to which its tokens will be bound; nil if it sent no proof.
    package var proof: ProofOfPossession?
    /// Whether it was decided before, and somebody else was faster.
    package var isRepeated = false
    /// Whether another request committed first.
    package var hasConflicted = false

    package init(
        snapshot: OrgSnapshot, server: AuthorizationServerDefinition, application: Application, grantType: String,
        parameters: [String: String], context: RequestContext, assertionUse: Change?, proof: ProofOfPossession? = nil,
        isRepeated: Bool = false, hasConflicted: Bool = false
    ) {
        self.snapshot = snapshot
        self.server = server
        self.application = application
        self.grantType = grantType
        self.parameters = parameters
        self.context = context
        self.assertionUse = assertionUse
        self.proof = proof
        self.isRepeated = isRepeated
        self.hasConflicted = hasConflicted
    }

    /// The use of the client's assertion; `type` is that of the log event if the assertion was used before, `nil` for none.
    package func assertionUses<Success>(logging type: String?) -> [Plan<Result<Success, Refusal>>.SingleUse] {
        guard let assertionUse else { return [] }
        let used = ClientAuthenticator.wrong("client.assertion: used")
        let event = type.map { LoggedEvent($0, .failure, reason: used.reason, clientID: application.id, server: server.id) }
        return [.init(change: assertionUse, refused: .failure(used), event: event)]
    }

    /// The use of the client's proof of possession.
    package func proofUses<Success>() -> [Plan<Result<Success, Refusal>>.SingleUse] {
        proof.map { [.init(change: $0.use.change, refused: .failure(.usedProof))] } ?? []
    }

    /// Refuses an assertion or a proof that was used before, so that a replay causes no further work.
    package func refuseRepeatedUse(in view: any StoreView) throws {
        if case .put(let record)? = assertionUse, try view.record(record.kind, id: record.id) != nil {
            throw ClientAuthenticator.wrong("client.assertion: used")
        }
        if try proof?.use.isMade(in: view) == true { throw Refusal.usedProof }
    }

    /// A parameter that is there and not empty (RFC 6749 section 3.1: an empty one counts as left out).
    package subscript(name: String) -> String? { parameters[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// A parameter that must be there.
    package func required(_ name: String) throws(Refusal) -> String {
        guard let value = self[name] else {
            throw Refusal(.invalidRequest, "The request needs the parameter \(name).", reason: "parameter.missing: \(name)")
        }
        return value
    }

    /// What signs the tokens of this request.
    package func issuer(_ engine: Engine) -> TokenIssuer {
        TokenIssuer(
            snapshot: snapshot, server: server, application: application, random: engine.environment.random, now: context.now,
            keyThumbprint: proof?.thumbprint)
    }

    /// The key that a new grant is bound to: the tokens of a client that authenticates itself are bound to that already, and it
    /// may change its key (RFC 9449 section 5).
    package var boundKeyThumbprint: String? { application.isConfidential ? nil : proof?.thumbprint }

    /// Sees to it that the request was proved with the key that something was bound to before: a code by `dpop_jkt` (RFC 9449
    /// section 10), a refresh token by the request that it was given to (section 5). Ask before anything is taken or revoked.
    ///
    /// - Parameter thumbprint: The key's thumbprint; nil if it was not bound, which any key and none may use.
    /// - Throws: ``Refusal`` with `invalid_dpop_proof`.
    package func requireKey(_ thumbprint: String?) throws(Refusal) {
        guard let thumbprint, proof?.thumbprint != thumbprint else { return }
        throw proof == nil
            ? .invalidProof("The request needs a proof by the key that the grant is bound to.", reason: "dpop: no proof of the bound key")
            : .invalidProof("The proof is by another key than the one that the grant is bound to.", reason: "dpop: another key")
    }
}

extension AdmittedRequest {
    /// - Throws: ``Refusal`` with `unauthorized_client` if the client may not use the grant that a challenge leads to.
    package func requireGrant(_ type: String) throws(Refusal) {
        guard application.grantTypes.contains(type) else {
            throw Refusal(
                .unauthorizedClient, "The client is not authorized to use the grant_type \"\(type)\". Enable it for the application.",
                reason: "grant.not_enabled")
        }
    }
}

extension Engine {
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
    package func admit(
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
}

extension OrgSnapshot {
    /// The server that a path names.
    /// - Throws: ``Refusal`` with ``Refusal/Code/notFound``.
    package func knownServer(_ id: String?) throws(Refusal) -> AuthorizationServerDefinition {
        guard let server = server(id) else {
            throw Refusal(.notFound, "Not found: there is no such authorization server.", reason: "server.unknown")
        }
        return server
    }
}

extension String {
    package var spaceSeparated: [String] { split(separator: " ").map(String.init) }
}
