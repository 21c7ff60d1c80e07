package import IdentityCore
package import JOSE
package import Store

/// A token request of an authenticated client to a known authorization server.
package struct AdmittedRequest: Sendable {
    package let snapshot: OrgSnapshot
    package let server: AuthorizationServerDefinition
    package let application: Application
    package let grantType: String
    package let parameters: [String: String]
    package let context: RequestContext
    /// Marks the client's assertion as used; `nil` without an assertion that has a `jti`.
    package let assertionUse: Change?
    /// The proof of the key that new tokens are bound to; `nil` without a proof.
    package var proof: ProofOfPossession?
    /// Whether an earlier read of the same request exists, such as before a conflict. Rate limits count only the first read.
    package var isRepeated = false

    package init(
        snapshot: OrgSnapshot, server: AuthorizationServerDefinition, application: Application, grantType: String,
        parameters: [String: String], context: RequestContext, assertionUse: Change?, proof: ProofOfPossession? = nil,
        isRepeated: Bool = false
    ) {
        (self.snapshot, self.server, self.application, self.grantType) = (snapshot, server, application, grantType)
        (self.parameters, self.context, self.assertionUse, self.proof) = (parameters, context, assertionUse, proof)
        self.isRepeated = isRepeated
    }

    /// Returns the single use of the client's assertion. `type` is the type of the log event for a reused assertion; `nil` logs nothing.
    package func assertionUses<Success>(logging type: String?) -> [Plan<Result<Success, Refusal>>.SingleUse] {
        guard let assertionUse else { return [] }
        let used = ClientAuthenticator.wrong("client.assertion: used")
        let event = type.map { LoggedEvent($0, .failure, reason: used.reason, clientID: application.id, server: server.id) }
        return [.init(change: assertionUse, refused: .failure(used), event: event)]
    }

    package func proofUses<Success>() -> [Plan<Result<Success, Refusal>>.SingleUse] {
        proof.map { [.init(change: $0.use.change, refused: .failure(.usedProof))] } ?? []
    }

    /// Rejects a reused assertion or proof early, so that a replay causes no further work.
    package func refuseRepeatedUse(in view: any StoreView) throws {
        if case .put(let record)? = assertionUse, try view.record(record.kind, id: record.id) != nil {
            throw ClientAuthenticator.wrong("client.assertion: used")
        }
        if try proof?.use.isMade(in: view) == true { throw Refusal.usedProof }
    }

    /// The parameter's value; `nil` if it is absent or empty (RFC 6749 section 3.1).
    package subscript(name: String) -> String? { parameters[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns a parameter, or throws `invalid_request` if it is absent or empty.
    package func required(_ name: String) throws(Refusal) -> String {
        guard let value = self[name] else {
            throw Refusal(.invalidRequest, "The request needs the parameter \(name).", reason: "parameter.missing: \(name)")
        }
        return value
    }

    package func issuer(_ engine: Engine) -> TokenIssuer {
        TokenIssuer(
            snapshot: snapshot, server: server, application: application, random: engine.environment.random, now: context.now,
            keyThumbprint: proof?.thumbprint)
    }

    /// The thumbprint of the key that a new grant is bound to; `nil` without a proof, and for confidential clients. Their refresh tokens
    /// are bound to the client already, and the client may change its key (RFC 9449 section 5).
    package var boundKeyThumbprint: String? { application.isConfidential ? nil : proof?.thumbprint }

    /// Checks that the request has a proof by the key to which its code (`dpop_jkt`, RFC 9449 section 10) or refresh token (section 5) is
    /// bound; throws ``Refusal`` otherwise. Call it before anything is consumed or revoked. If `thumbprint` is `nil`, nothing is bound, and
    /// every request passes.
    package func requireKey(_ thumbprint: String?) throws(Refusal) {
        guard let thumbprint, proof?.thumbprint != thumbprint else { return }
        throw proof == nil
            ? .invalidProof("The request needs a proof by the key that the grant is bound to.", reason: "dpop: no proof of the bound key")
            : .invalidProof("The proof is by another key than the one that the grant is bound to.", reason: "dpop: another key")
    }
}

extension AdmittedRequest {
    /// Checks that the grant type is enabled for the application; throws `unauthorized_client` otherwise.
    package func requireGrant(_ type: String) throws(Refusal) {
        guard application.grantTypes.contains(type) else {
            throw Refusal(
                .unauthorizedClient, "The client is not authorized to use the grant_type \"\(type)\". Enable it for the application.",
                reason: "grant.not_enabled")
        }
    }
}

extension Engine {
    /// Authenticates the client, then checks its proof of possession. Both happen before anything is consumed, so that a client that must
    /// repeat the request with a nonce keeps its assertion and its code. Throws ``Refusal``.
    /// - Parameter proof: The result of ``ProofJudge/genuine(_:with:now:)``; `nil` for a request without a proof.
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
    /// Returns the authorization server with this id; `nil` is the org server. Throws ``Refusal`` with ``Refusal/Code/notFound``.
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
