internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import ServerHTTP

extension Endpoint {
    /// `/userinfo`: the claims that a token's scopes permit (OpenID Connect Core section 5.3). Errors are only in the header (RFC 6750
    /// section 3, RFC 9449 section 7.1).
    static func userInfo(_ engine: Engine) -> Endpoint {
        Endpoint(.userInfo, methods: [.get, .post], isCrossOrigin: true) { call in
            let presented: PresentedToken?
            do throws(Refusal) { presented = try PresentedToken.read(call.request) } catch {
                return challenge(.badRequest, error).counted(call, by: engine)
            }
            switch presented {
            case nil: return noToken.counted(call, by: engine)
            case .bearer(let token): return try await userInfo(call, engine, token, proof: nil)
            case .dpop(let token): return try await userInfo(call, engine, token, proof: call.requiredProof)
            }
        }
    }

    private static func userInfo(
        _ call: Call, _ engine: Engine, _ token: String, proof: PresentedProof?
    ) async throws -> ServerResponse {
        let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
        guard limit.isAdmitted else { return .tooManyRequests(limit, to: call.request) }
        var response: ServerResponse
        switch try await engine.userInfo(accessToken: token, proof: proof, server: call.server.id, context: call.request.context) {
        case .success(let claims): response = ServerResponse(json: JSONValue.object(claims).serialized()).uncached()
        case .failure(let refusal): response = challenge(for: refusal, byProof: proof != nil, call.request)
        }
        response.headers.set(limit)
        return response
    }

    /// Returns the response for a refusal, with a challenge in the scheme that the request used or must use.
    private static func challenge(for refusal: Refusal, byProof: Bool, _ request: ServerRequest) -> ServerResponse {
        switch refusal.code {
        case .invalidToken, .invalidDPoPProof, .useDPoPNonce:
            var response = challenge(.unauthorized, refusal)
            if byProof || refusal.asksForProof { response.headers[.wwwAuthenticate] = AccessTokenChallenge.dpop(refusal) }
            if let nonce = refusal.nextNonce { response.headers[.dpopNonce] = nonce }
            return response
        case .insufficientScope:
            var response = challenge(.forbidden, refusal)
            if byProof { response.headers[.wwwAuthenticate] = AccessTokenChallenge.dpop(refusal) }
            return response
        default: return .refusal(refusal, to: request)
        }
    }

    private static var noToken: ServerResponse {
        var response = challenge(.unauthorized, nil)
        response.headers[.wwwAuthenticate] = AccessTokenChallenge.bearer(nil) + ", " + AccessTokenChallenge.dpop(nil)
        return response
    }

    private static func challenge(_ status: HTTPResponse.Status, _ refusal: Refusal?) -> ServerResponse {
        var response = ServerResponse(status: status).uncached()
        response.headers[.wwwAuthenticate] = AccessTokenChallenge.bearer(refusal)
        response.trace.reason = refusal?.reason ?? "no token"
        return response
    }
}
