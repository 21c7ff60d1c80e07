internal import IdentityEngine
internal import JOSE

extension Endpoint {
    /// `/device/authorize`: begins a sign-in for a device without a browser (RFC 8628 section 3.1; oauth reference 2.8).
    static func deviceAuthorize(_ engine: IdentityEngine) -> Endpoint {
        Endpoint(backchannel: "device/authorize", engine: engine) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values)
            switch try await engine.deviceAuthorize(request, context: call.request.context) {
            case .success(let start): return ServerResponse(json: JSONValue.object(start.members).serialized()).uncached()
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}
