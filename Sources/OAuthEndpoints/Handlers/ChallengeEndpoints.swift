internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import ServerHTTP

extension Endpoint {
    /// `/challenge`: starts a second factor (Documentation/Protocol/OAuth.md §2.6).
    static func challenge(_ engine: Engine) -> Endpoint {
        challenge("/oauth2/v1/challenge", engine) { try await engine.challenge($0, context: $1) }
    }

    /// `/primary-authenticate`, formerly `/oob-authenticate`: starts a first factor (Documentation/Protocol/OAuth.md §2.5).
    static func primaryAuthenticate(_ path: RoutePath, _ engine: Engine) -> Endpoint {
        challenge(path, engine) { try await engine.primaryAuthenticate($0, context: $1) }
    }

    /// `/bc/authorize`: asks a user to approve a sign-in on their device (OpenID Connect CIBA Core section 7).
    static func backchannelAuthorize(_ engine: Engine) -> Endpoint {
        challenge(.backchannelAuthorize, engine) { try await engine.backchannelAuthorize($0, context: $1) }
    }

    private static func challenge(
        _ path: RoutePath, _ engine: Engine,
        start: @escaping @Sendable (TokenRequest, RequestContext) async throws -> Result<StartedChallenge, Refusal>
    ) -> Endpoint {
        Endpoint(backchannel: path, engine: engine) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values)
            switch try await start(request, call.request.context) {
            case .success(let started):
                return ServerResponse(json: JSONValue.object(started.members).serialized()).uncached()
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}
