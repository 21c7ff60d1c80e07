internal import HTTPTypes
internal import IdentityEngine

extension Endpoint {
    /// `/token`: every grant (RFC 6749 section 3.2). The engine decides by `grant_type`; this reads and writes.
    static func token(_ engine: IdentityEngine) -> Endpoint {
        Endpoint(backchannel: "token", engine: engine) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values, proof: call.proof)
            switch try await engine.token(request, context: call.request.context) {
            case .success(let granted):
                var response = ServerResponse(json: TokenBody.serialize(granted)).uncached()
                if let nonce = granted.nextNonce { response.headers[.dpopNonce] = nonce }
                return response
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}
