internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import ServerHTTP

/// The probes of load balancers. They work without a configuration of the organization.
enum HealthEndpoint: String, CaseIterable {
    case live = "/health/live"
    case ready = "/health/ready"

    var path: RoutePath { RoutePath(rawValue) }

    func respond(to request: ServerRequest, _ engine: Engine) async -> ServerResponse {
        guard request.head.method == .get || request.head.method == .head else {
            return .methodNotAllowed(allow: "GET, HEAD", request)
        }
        var response =
            switch self {
            // Always succeeds while the process responds.
            case .live: Self.answer(.ok, #"{"status":"live"}"#)
            case .ready: await Self.readiness(request, engine)
            }
        response.trace.route = path.name
        return response
    }

    /// Succeeds if the store can be read and a signing key is published.
    private static func readiness(_ request: ServerRequest, _ engine: Engine) async -> ServerResponse {
        do {
            let snapshot = try await engine.snapshot()
            guard !snapshot.keyRing.publishedKeys(now: request.context.now).keys.isEmpty else {
                return answer(.serviceUnavailable, #"{"status":"not ready","reason":"no signing key"}"#)
            }
            return answer(.ok, #"{"status":"ready"}"#)
        } catch {
            var response = answer(.serviceUnavailable, #"{"status":"not ready","reason":"the store cannot be read"}"#)
            response.trace.reason = "\(error)"
            return response
        }
    }

    private static func answer(_ status: HTTPResponse.Status, _ json: String) -> ServerResponse {
        ServerResponse(status: status, json: Array(json.utf8)).uncached()
    }
}
