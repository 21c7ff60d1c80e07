internal import HTTPTypes
internal import IdentityEngine
internal import JOSE

extension Endpoint {
    /// `/userinfo`: the claims that a token's scopes open (OpenID Connect Core section 5.3). Errors are in the header only
    /// (RFC 6750 section 3).
    static func userInfo(_ engine: IdentityEngine) -> Endpoint {
        Endpoint(name: "userinfo", methods: [.get, .post], isCrossOrigin: true) { call in
            switch BearerToken.read(call.request) {
            case .absent: return challenge(.unauthorized, nil).counted(call, by: engine)
            case .ambiguous:
                let refusal = Refusal(.invalidRequest, "The request carries more than one access token.", reason: "two tokens")
                return challenge(.badRequest, refusal).counted(call, by: engine)
            case .present(let token):
                let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
                guard limit.isAdmitted else { return .refusal(.tooManyRequests(limit, reason: "rate limit"), to: call.request) }
                var response: ServerResponse
                switch try await engine.userInfo(accessToken: token, server: call.server.id, context: call.request.context) {
                case .success(let claims): response = ServerResponse(json: JSONValue.object(claims).serialized()).uncached()
                case .failure(let refusal): response = challenge(for: refusal, call.request)
                }
                response.headers.set(limit)
                return response
            }
        }
    }

    private static func challenge(for refusal: Refusal, _ request: ServerRequest) -> ServerResponse {
        switch refusal.code {
        case .invalidToken: challenge(.unauthorized, refusal)
        case .insufficientScope: challenge(.forbidden, refusal)
        default: .refusal(refusal, to: request)
        }
    }

    private static func challenge(_ status: HTTPResponse.Status, _ refusal: Refusal?) -> ServerResponse {
        var response = ServerResponse(status: status).uncached()
        response.headers[.wwwAuthenticate] = BearerToken.challenge(refusal)
        response.trace.reason = refusal?.reason ?? "no token"
        return response
    }
}
