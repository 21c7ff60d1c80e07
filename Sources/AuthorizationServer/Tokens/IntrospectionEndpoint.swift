internal import IdentityEngine
internal import JOSE

extension Endpoint {
    /// `/introspect`: whether a token is good now, and what it says (RFC 7662).
    static func introspect(_ engine: IdentityEngine) -> Endpoint {
        Endpoint(backchannel: "introspect", engine: engine, acceptsQuery: true) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values)
            switch try await engine.introspect(request, context: call.request.context) {
            case .success(let known): return ServerResponse(json: known.json.serialized()).uncached()
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}
