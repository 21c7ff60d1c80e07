internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import NIOConcurrencyHelpers
internal import ServerHTTP

/// The state that decides whether the server responds to requests, and whether load balancers should send requests. Safe from any task.
final class Readiness: Sendable {
    private struct State {
        var isPrepared: Bool
        var isDraining = false
        var reloadWaits = false
    }

    private let state: NIOLockedValueBox<State>

    init(isPrepared: Bool = true) { state = NIOLockedValueBox(State(isPrepared: isPrepared)) }

    /// Whether the organization is applied. Until then, the store may have an older configuration, or tables of another version.
    var isPrepared: Bool { state.withLockedValue(\.isPrepared) }

    /// Whether the server still responds, but will stop soon.
    var isDraining: Bool { state.withLockedValue(\.isDraining) }

    func drain() { state.withLockedValue { $0.isDraining = true } }

    /// Records that the organization is applied. Returns `false` if a reload was requested meanwhile: then the org file must be applied
    /// again first.
    func setPrepared() -> Bool {
        state.withLockedValue { state in
            state.isPrepared = !state.reloadWaits
            state.reloadWaits = false
            return state.isPrepared
        }
    }

    /// Returns whether the org file can be applied again now. If not, the preparation in progress applies it again.
    func mayReload() -> Bool {
        state.withLockedValue { state in
            if !state.isPrepared { state.reloadWaits = true }
            return state.isPrepared
        }
    }
}

/// The probes of load balancers. They work without a configuration of the organization.
enum HealthEndpoint: String, CaseIterable {
    case live = "/health/live"
    case ready = "/health/ready"

    var path: RoutePath { RoutePath(rawValue) }

    func respond(to request: ServerRequest, _ engine: Engine, _ readiness: Readiness) async -> ServerResponse {
        guard request.head.method == .get || request.head.method == .head else {
            return .methodNotAllowed(allow: "GET, HEAD", request)
        }
        var response =
            switch self {
            // Always succeeds while the process responds.
            case .live: Self.answer(.ok, #"{"status":"live"}"#)
            case .ready where readiness.isDraining:
                Self.answer(.serviceUnavailable, #"{"status":"not ready","reason":"the server is stopping"}"#)
            case .ready where !readiness.isPrepared:
                Self.answer(.serviceUnavailable, #"{"status":"not ready","reason":"the store cannot be read"}"#)
            case .ready: await Self.readiness(request, engine)
            }
        response.trace.route = path.name
        return response
    }

    /// Returns 200 if the store can be read and a signing key is published, otherwise 503.
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
