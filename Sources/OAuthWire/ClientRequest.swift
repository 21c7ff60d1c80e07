package import IdentityCore
package import JOSE
package import Store

/// An authenticated request and the state that it needs, as one read returns them. A class, because the generic runner would copy each of its
/// many members.
private final class ClientState<Found: Sendable>: Sendable {
    /// `nil` if client authentication failed.
    let admitted: AdmittedRequest?
    let found: Result<Found, Refusal>

    init(admitted: AdmittedRequest?, found: Result<Found, Refusal>) {
        (self.admitted, self.found) = (admitted, found)
    }
}

extension Engine {
    /// Runs the request of a client: authenticates the client once per read, and commits the use of its assertion and proof.
    /// - Parameters:
    ///   - proof: The verified proof, its nonce not yet checked; `nil` for a request without one.
    ///   - replays: The type of the log event for a reused assertion; `nil` logs nothing.
    ///   - refusal: Returns the log event of a refusal. Return `nil` for unauthenticated clients, which could fill the log.
    ///   - read: Reads what the decision needs. A thrown ``Refusal`` is returned as the result.
    ///   - decide: Decides on what was read. A thrown ``Refusal`` is returned as the result.
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

/// A request to the token endpoint (RFC 6749 section 3.2), its parameters not yet checked.
package struct TokenRequest: Sendable {
    /// The authorization server's id; `nil` for the org server.
    package var server: String?
    /// The client's credentials, unchecked.
    package var client: ClientCredentials
    /// The form parameters. The HTTP layer rejects repeated ones.
    package var parameters: [String: String]
    /// The proof of possession; `nil` for a request without a `DPoP` header.
    package var proof: PresentedProof?

    package init(server: String?, client: ClientCredentials, parameters: [String: String], proof: PresentedProof? = nil) {
        (self.server, self.client, self.parameters, self.proof) = (server, client, parameters, proof)
    }
}

extension TokenRequest: Redacted {
    package var description: String {
        "TokenRequest(grant_type: \(parameters["grant_type"] ?? "none"), server: \(server ?? "none"), \(client))"
    }
}
