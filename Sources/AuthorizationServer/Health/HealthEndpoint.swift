internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import ServerHTTP

/// `/health/live` and `/health/ready`: what an operator's supervisor asks.
enum HealthEndpoint {
    static let live = "health-live"
    static let ready = "health-ready"

    /// The process runs and answers.
    static func answerLive(_ request: ServerRequest) -> ServerResponse {
        answer(request, route: live, .ok, #"{"status":"live"}"#)
    }

    /// The store can be read and there are keys to sign with.
    static func answerReady(_ request: ServerRequest, _ engine: Engine) async -> ServerResponse {
        do {
            let snapshot = try await engine.snapshot()
            guard !snapshot.keyRing.publishedKeys(now: request.context.now).keys.isEmpty else {
                return answer(request, route: ready, .serviceUnavailable, #"{"status":"not ready","reason":"no signing key"}"#)
            }
            return answer(request, route: ready, .ok, #"{"status":"ready"}"#)
        } catch {
            var response = answer(
                request, route: ready, .serviceUnavailable, #"{"status":"not ready","reason":"the store cannot be read"}"#)
            response.trace.reason = "\(error)"
            return response
        }
    }

    private static func answer(
        _ request: ServerRequest, route: String, _ status: HTTPResponse.Status, _ json: String
    ) -> ServerResponse {
        guard request.head.method == .get || request.head.method == .head else {
            return .methodNotAllowed(allow: "GET, HEAD", request)
        }
        var response = ServerResponse(status: status, json: Array(json.utf8)).uncached()
        response.trace.route = route
        return response
    }
}
