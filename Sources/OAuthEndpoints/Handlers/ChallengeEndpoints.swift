internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import JOSE
internal import OAuthWire
package import ServerHTTP

extension Endpoint {
    /// `/challenge`: starts a second factor (oauth reference 2.6).
    package static func challenge(_ engine: Engine) -> Endpoint {
        challenge("challenge", engine) { try await engine.challenge($0, context: $1) }
    }

    /// `/primary-authenticate`, and `/oob-authenticate` as it was called before: starts a first factor (oauth reference 2.5).
    package static func primaryAuthenticate(
        _ name: String, _ engine: Engine
    ) -> Endpoint {
        challenge(name, engine) { try await engine.primaryAuthenticate($0, context: $1) }
    }

    /// `/bc/authorize`: asks a person in the back channel (OpenID Connect CIBA Core section 7).
    package static func backchannelAuthorize(_ engine: Engine) -> Endpoint {
        challenge("bc/authorize", engine) { try await engine.backchannelAuthorize($0, context: $1) }
    }

    private static func challenge(
        _ name: String, _ engine: Engine,
        start: @escaping @Sendable (TokenRequest, RequestContext) async throws -> Result<StartedChallenge, Refusal>
    ) -> Endpoint {
        Endpoint(backchannel: name, engine: engine) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values)
            switch try await start(request, call.request.context) {
            case .success(let started):
                // Stored already: what is not sent, the device fetches.
                call.courier.deliver(started.pushes)
                call.courier.deliver(started.messages, origin: call.snapshot.origin)
                return ServerResponse(json: JSONValue.object(started.members).serialized()).uncached()
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}
