internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import Store

extension Engine {
    /// Authenticates a device's request, checks its scopes, and commits the decision.
    /// - Parameters:
    ///   - type: The type of the log event of a refusal. Refusals are logged only for an authenticated caller.
    ///   - scopes: The accepted scopes; an access token must have one of them.
    ///   - rows: The rows that `decide` reads.
    ///   - decide: Decides within the request's read. A thrown ``DeviceRefusal`` is returned as the result.
    func answerDevice<Answer: Sendable>(
        _ type: String, _ authorization: DeviceAuthorization, needing scopes: Set<String>, rows: DeviceRows = DeviceRows(),
        context: RequestContext,
        decide: @escaping @Sendable (DeviceAccess, DeviceCaller) throws -> Plan<Answer>
    ) async throws -> Result<Answer, DeviceRefusal> {
        var possession: ProofOfPossession?
        if case .dpop(let token, let proof) = authorization {
            switch proofs.possession(proof, with: token, now: context.now) {
            case .success(let good): possession = good
            case .failure(let refusal): return .failure(.proof(refusal))
            }
        }
        return try await transact(context) { [possession] in
            rows.lookup(authorization, possession)
        } read: { [possession] reading in
            var caller: DeviceCaller?
            do {
                let access = DeviceAccess(
                    snapshot: try reading.snapshot, view: reading.view, now: context.now, possession: possession)
                let known = try access.caller(authorization)
                caller = known
                try known.check(scopes)
                return (caller: caller, plan: Result<Plan<Answer>, DeviceRefusal>.success(try decide(access, known)))
            } catch let refusal as DeviceRefusal {
                return (caller: caller, plan: .failure(refusal))
            }
        } decide: { found in
            var plan: Plan<Result<Answer, DeviceRefusal>>
            switch found.plan {
            case .success(let decided): plan = decided.map { .success($0) }
            case .failure(let refusal):
                plan = Plan(.failure(refusal))
                if let caller = found.caller {
                    plan.writes.log(
                        type, .denied, reason: "\(refusal.code): \(refusal.reason)", userID: caller.user.id, clientID: caller.clientID)
                }
            }
            if let use = found.caller?.use { plan.writes = Writes([use.change]) + plan.writes }
            return plan
        }
    }
}
