package import IdentityCore
package import JOSE
package import Store

/// An authenticated request with the data of one read. A class, because the generic runner would copy each of its many members.
private final class ClientState<Found: Sendable>: Sendable {
    /// The request with its authenticated client; `nil` if client authentication failed.
    let admitted: AdmittedRequest?
    let found: Result<Found, Refusal>

    init(admitted: AdmittedRequest?, found: Result<Found, Refusal>) {
        (self.admitted, self.found) = (admitted, found)
    }
}

extension Engine {
    /// Runs the request of a client: authenticates the client in each read, and commits the use of its assertion and proof.
    /// - Parameters:
    ///   - proof: The verified proof, whose nonce is not checked yet; `nil` for a request without a proof.
    ///   - replays: The type of the log event for a reused assertion; `nil` logs nothing.
    ///   - refusal: Returns the log event of a refusal. Return `nil` for unauthenticated clients, which could fill the log.
    ///   - read: Reads the data for the decision. A thrown ``Refusal`` is returned as the result.
    ///   - decide: Returns the plan for the data. A thrown ``Refusal`` is returned as the result.
    package func transact<Found: Sendable, Success: Sendable>(
        _ request: TokenRequest, proof: Result<DPoPProof, Refusal>? = nil, context: RequestContext, loggingReplays replays: String? = nil,
        logging refusal: (Refusal, AdmittedRequest?, Found?) -> LoggedEvent? = { _, _, _ in nil },
        lookup: @escaping @Sendable () -> Lookup = { Lookup() },
        read: @escaping @Sendable (AdmittedRequest, Reading<Never>) throws -> Found,
        decide: (Found) throws -> Plan<Result<Success, Refusal>>
    ) async throws -> Result<Success, Refusal> {
        try await transact(context, lookup: lookup) { [self] reading in
            var admitted: AdmittedRequest?
            do {
                var known = try admit(request, proof: proof, snapshot: reading.snapshot, context: context)
                known.isRepeated = reading.isRepeated
                admitted = known
                return ClientState(admitted: known, found: .success(try read(known, reading)))
            } catch let refusal as Refusal {
                return ClientState(admitted: admitted, found: .failure(refusal))
            }
        } decide: { (state: ClientState<Found>) in
            var plan: Plan<Result<Success, Refusal>>
            do {
                plan = try decide(try state.found.get())
                plan.uses = (state.admitted?.proofUses() ?? []) + plan.uses
            } catch var error as Refusal {
                error.nextNonce = error.nextNonce ?? state.admitted?.proof?.nextNonce
                plan = Plan(.failure(error))
                if let event = refusal(error, state.admitted, try? state.found.get()) { plan.writes.events.append(event) }
            }
            plan.uses = (state.admitted?.assertionUses(logging: replays) ?? []) + plan.uses
            return plan
        }
    }
}

/// A request to the token endpoint or to another endpoint for clients (RFC 6749 section 3.2), with unchecked parameters.
package struct TokenRequest: Sendable {
    /// The authorization server's id; `nil` for the org server.
    package var server: String?
    /// The client's credentials, unchecked.
    package var client: ClientCredentials
    /// The form parameters. The HTTP layer rejects repeated parameters.
    package var parameters: [String: String]
    /// The proof of possession; `nil` for a request without a `DPoP` header.
    package var proof: PresentedProof?

    package init(server: String?, client: ClientCredentials, parameters: [String: String], proof: PresentedProof? = nil) {
        (self.server, self.client, self.parameters, self.proof) = (server, client, parameters, proof)
    }
}

extension TokenRequest {
    /// The rows that show whether the client's assertion or its proof was used before (``AdmittedRequest/refuseRepeatedUse(in:)``). The
    /// claims of the assertion are not verified here.
    package func rowsOfUses(_ proof: Result<DPoPProof, Refusal>?) -> [Lookup.Node] {
        var nodes: [Lookup.Node] = []
        if let assertion = client.assertion, let claims = try? JSONWebSignature(parsing: assertion).unverifiedClaims(),
            let id = claims.jwtID, let subject = claims.subject
        {
            nodes.append(AssertionUse.row(of: id, by: subject))
        }
        if let proof = try? proof?.get() { nodes.append(ProofJudge.rowOfUse(proof)) }
        return nodes
    }
}

extension TokenRequest: Redacted {
    package var description: String {
        "TokenRequest(grant_type: \(parameters["grant_type"] ?? "none"), server: \(server ?? "none"), \(client))"
    }
}
