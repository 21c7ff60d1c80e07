internal import Foundation
internal import IdentityCore
internal import OAuthWire

extension Engine {
    /// Answers a request of a device.
    ///
    /// - Parameters:
    ///   - type: The type of the log event of a refusal, written once the caller is known.
    ///   - authorization: The authorization of the request.
    ///   - scopes: Scopes of which an access token must have one.
    ///   - context: The request.
    ///   - decide: Decides within the request's read; may throw ``DeviceRefusal``.
    /// - Returns: The answer of the decision, or the refusal.
    /// - Throws: ``StoreError``.
    func answerDevice<Answer: Sendable>(
        _ type: String, _ authorization: DeviceAuthorization, needing scopes: Set<String>, context: RequestContext,
        decide: @escaping @Sendable (DeviceAccess, DeviceCaller) throws -> Plan<Answer>
    ) async throws -> Result<Answer, DeviceRefusal> {
        var possession: ProofOfPossession?
        if case .dpop(let token, let proof) = authorization {
            switch proofs.possession(proof, with: token, now: context.now) {
            case .success(let good): possession = good
            case .failure(let refusal): return .failure(.proof(refusal))
            }
        }
        return try await transact(context) { [possession] reading in
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
