internal import HTTPTypes
internal import IdentityEngine

extension Endpoint {
    /// `/revoke`: ends a token (RFC 7009). The answer is empty, also for a token that was none.
    static func revoke(_ engine: IdentityEngine) -> Endpoint {
        Endpoint(backchannel: "revoke", engine: engine, acceptsQuery: true) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values)
            switch try await engine.revoke(request, context: call.request.context) {
            case .success: return ServerResponse(status: .ok).uncached()
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}
