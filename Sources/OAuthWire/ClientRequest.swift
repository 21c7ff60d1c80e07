package import IdentityCore
package import JOSE

/// A request of an authenticated client as one read finds it.
private struct ClientState<Found: Sendable>: Sendable {
    /// `nil` if the client was refused.
    let admitted: AdmittedRequest?
    let found: Result<Found, Refusal>
}

extension Engine {
    /// Runs a request of a client that authenticates itself: authenticates the client once per read, and commits the use of its assertion.
    ///
    /// - Parameters:
    ///   - request: The client and the parameters.
    ///   - proof: The proof of possession, checked without its nonce; `nil` for none.
    ///   - context: The time, for the client's credentials and proof; the request id and address, for the log.
    ///   - replays: The type of the log event of an assertion that was used before; `nil` for none.
    ///   - refusal: Returns the log event of a refusal; `nil` for none. Return `nil` for unauthenticated clients, which could fill the log.
    ///   - read: Reads what the decision needs; may throw ``Refusal``.
    ///   - decide: Decides; may throw ``Refusal``.
    /// - Returns: The answer of the decision, or the refusal.
    /// - Throws: ``StoreError``.
    package func transact<Found: Sendable, Success: Sendable>(
        _ request: TokenRequest, proof: Result<DPoPProof, Refusal>? = nil, context: RequestContext, loggingReplays replays: String? = nil,
        logging refusal: (Refusal, AdmittedRequest?, Found?) -> LoggedEvent? = { _, _, _ in nil },
        read: @escaping @Sendable (AdmittedRequest, Reading<Never>) throws -> Found,
        decide: (Found) throws -> Plan<Result<Success, Refusal>>
    ) async throws -> Result<Success, Refusal> {
        try await transact(context) { [self] reading in
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

/// A request to the token endpoint (RFC 6749 section 3.2), its parameters not yet checked.
package struct TokenRequest: Sendable {
    /// The authorization server's id; nil for the org server.
    package var server: String?
    /// Who the client says it is.
    package var client: ClientCredentials
    /// Every form parameter, each at most once (the front door refuses repeated ones).
    package var parameters: [String: String]
    /// What shows that the client has a key; nil for a request without a `DPoP` header.
    package var proof: PresentedProof?

    /// Describes a request.
    package init(server: String?, client: ClientCredentials, parameters: [String: String], proof: PresentedProof? = nil) {
        self.server = server
        self.client = client
        self.parameters = parameters
        self.proof = proof
    }
}

extension TokenRequest: Redacted {
    /// The grant type and the client; never a password, a code or a token.
    package var description: String {
        "TokenRequest(grant_type: \(parameters["grant_type"] ?? "none"), server: \(server ?? "none"), \(client))"
    }
}
