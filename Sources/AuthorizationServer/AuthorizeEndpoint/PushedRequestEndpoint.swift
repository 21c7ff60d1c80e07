internal import HTTPTypes
internal import IdentityEngine
internal import JOSE

extension Endpoint {
    /// `/par`: takes an authorization request from the client itself (RFC 9126; oauth reference 5.2): as a form, or as JSON as the
    /// published description of the API has it.
    static func pushAuthorizationRequest(_ engine: IdentityEngine) -> Endpoint {
        Endpoint(backchannel: "par", engine: engine, acceptsJSON: true) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values, proof: call.proof)
            switch try await engine.pushAuthorizationRequest(request, context: call.request.context) {
            case .success(let pushed):
                let body: JSONValue = ["request_uri": .string(pushed.requestURI), "expires_in": .integer(Int64(pushed.expiresIn))]
                var response = ServerResponse(status: .created, json: body.serialized()).uncached()
                if let nonce = pushed.nextNonce { response.headers[.dpopNonce] = nonce }
                return response
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}
