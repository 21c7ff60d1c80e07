internal import Foundation

extension IdentityEngine {
    /// What a device's request came to: its answer, and what must be stored for it.
    struct DeviceDecision<Answer: Sendable>: Sendable {
        var answer: Answer
        var changes: [Change] = []
    }

    /// Answers a device's request: one read, and a commit if there is something to store. Who was refused after it was known who
    /// they are gets a line of the system log.
    ///
    /// - Parameters:
    ///   - type: What the log calls it.
    ///   - authorization: What the request brought to say who sends it.
    ///   - scopes: Scopes of which an access token must have one.
    ///   - context: The request.
    ///   - decide: Decides, in the request's one read; asked again if somebody else was faster.
    /// - Returns: The answer, or the refusal that `decide` threw.
    /// - Throws: ``StoreError``.
    func answerDevice<Answer: Sendable>(
        _ type: String, _ authorization: DeviceAuthorization, needing scopes: Set<String>, context: RequestContext,
        decide: @escaping @Sendable (DeviceAccess, DeviceCaller) throws -> DeviceDecision<Answer>
    ) async throws -> Result<Answer, DeviceRefusal> {
        var possession: ProofOfPossession?
        if case .dpop(let token, let proof) = authorization {
            switch proofs.possession(proof, with: token, now: context.now) {
            case .success(let good): possession = good
            case .failure(let refusal): return .failure(.proof(refusal))
            }
        }
        for _ in 0..<Self.attempts {
            let (result, caller): (Result<DeviceDecision<Answer>, DeviceRefusal>, DeviceCaller?) = try await store.read {
                [self, possession] view in
                var known: DeviceCaller?
                do {
                    let access = DeviceAccess(snapshot: try snapshot(view), view: view, now: context.now, possession: possession)
                    let caller = try access.caller(authorization)
                    known = caller
                    try caller.check(scopes)
                    return (.success(try decide(access, caller)), known)
                } catch let refusal as DeviceRefusal {
                    return (.failure(refusal), known)
                }
            }
            var changes = caller?.use.map { [$0.change] } ?? []
            switch result {
            case .success(let decision): changes += decision.changes
            case .failure(let refusal):
                guard let caller else { break }
                changes.append(
                    try logEntry(
                        type, .denied, reason: "\(refusal.code): \(refusal.reason)", userID: caller.user.id, clientID: caller.clientID,
                        context: context))
            }
            guard !changes.isEmpty else { return result.map(\.answer) }
            if try await store.commit(changes) == .committed { return result.map(\.answer) }
        }
        throw StoreError(.unavailable, "The request met other writers \(Self.attempts) times. Try it again.")
    }
}
