internal import IdentityEngine
internal import JOSE

extension Endpoint {
    /// `/challenge`: starts a second factor (oauth reference 2.6).
    static func challenge(_ engine: IdentityEngine, _ pushes: PushDelivery?, _ messages: MessageDelivery?) -> Endpoint {
        challenge("challenge", engine, pushes, messages) { try await engine.challenge($0, context: $1) }
    }

    /// `/primary-authenticate`, and `/oob-authenticate` as it was called before: starts a first factor (oauth reference 2.5).
    static func primaryAuthenticate(
        _ name: String, _ engine: IdentityEngine, _ pushes: PushDelivery?, _ messages: MessageDelivery?
    ) -> Endpoint {
        challenge(name, engine, pushes, messages) { try await engine.primaryAuthenticate($0, context: $1) }
    }

    /// `/bc/authorize`: asks a person in the back channel (OpenID Connect CIBA Core section 7).
    static func backchannelAuthorize(_ engine: IdentityEngine, _ pushes: PushDelivery?) -> Endpoint {
        challenge("bc/authorize", engine, pushes) { try await engine.backchannelAuthorize($0, context: $1) }
    }

    private static func challenge(
        _ name: String, _ engine: IdentityEngine, _ pushes: PushDelivery?, _ messages: MessageDelivery? = nil,
        start: @escaping @Sendable (TokenRequest, RequestContext) async throws -> Result<StartedChallenge, Refusal>
    ) -> Endpoint {
        Endpoint(backchannel: name, engine: engine) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values)
            switch try await start(request, call.request.context) {
            case .success(let started):
                // Stored already: what is not sent, the device fetches.
                pushes?.deliver(started.pushes)
                messages?.deliver(started.messages, origin: call.snapshot.origin)
                return ServerResponse(json: JSONValue.object(started.members).serialized()).uncached()
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}
