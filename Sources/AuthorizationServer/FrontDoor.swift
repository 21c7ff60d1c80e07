internal import AdminAPI
internal import AuthnAPI
internal import DeviceAPI
internal import HTTPTypes
internal import IdentityCore
internal import OAuthEndpoints
internal import ServerHTTP
internal import SignInPages
internal import Store

/// Routes a request to its endpoint: checks the path, then the authorization server, then the method.
struct FrontDoor: Sendable {
    private let engine: Engine
    private let readiness: Readiness
    private let table: RouteTable

    init(engine: Engine, pages: PageWriter, polls: HeldPolls? = nil, readiness: Readiness = Readiness()) {
        (self.engine, self.readiness) = (engine, readiness)
        table = Self.table(engine, pages, polls)
    }

    static func table(_ engine: Engine, _ pages: PageWriter, _ polls: HeldPolls?) -> RouteTable {
        // For these paths, the response says whether the endpoint or the server is unknown. They have no methods, and metrics omit them.
        let unknown: [RoutePath] = ["/oauth2/v1/{name}", "/oauth2/v1/bc/{name}", "/oauth2/v1/device/{name}"]
        return RouteTable(
            Endpoint.oauth(engine, polls) + Endpoint.pages(engine, pages) + Endpoint.classic(engine, pages.transport)
                + Endpoint.devices(engine) + Endpoint.administration(engine)
                + unknown.map { path in
                    Endpoint(path, methods: [], isCrossOrigin: false, admits: { _ in true }) { .pathNotFound($0.request) }
                })
    }

    /// All route names, for metrics.
    var routeNames: [String] {
        table.endpoints.filter { !$0.methods.isEmpty }.map(\.path.name) + HealthEndpoint.allCases.map(\.path.name)
    }

    /// Returns the response; converts an error to an error response, with the reason for the access log.
    func respond(to request: ServerRequest) async -> ServerResponse {
        do {
            if let route = table.find(request.path) {
                guard readiness.isPrepared else { throw StoreError(.unreachable, "The organization is not applied yet.") }
                return try await call(route, request)
            }
            guard let probe = HealthEndpoint(rawValue: String(request.path)) else { return .pathNotFound(request) }
            return await probe.respond(to: request, engine, readiness)
        } catch {
            var response = ServerResponse.failure(error, request)
            response.trace.reason = "\(error)"
            return response
        }
    }

    private func call(_ route: RouteTable.Match, _ request: ServerRequest) async throws -> ServerResponse {
        let endpoint = route.endpoint
        var response: ServerResponse
        let origin = request.head.headerFields[.origin]
        let known = try await snapshot(naming: route.server)
        if endpoint.methods.isEmpty { return known == nil ? .serverNotFound(request) : .pathNotFound(request) }
        if let snapshot = known, let server = snapshot.server(route.server) {
            if request.head.method == .options, endpoint.isCrossOrigin {
                let isReadable = endpoint.readers.include(origin, snapshot)
                response = isReadable ? CrossOrigin.preflight(request, for: endpoint) : CrossOrigin.preflightDenied()
                response.trace.route = endpoint.path.name
                return response
            }
            if endpoint.accepts(request.head.method) {
                response = try await endpoint.respond(
                    Endpoint.Call(request: request, snapshot: snapshot, server: server, parameters: route.parameters))
            } else {
                response = .methodNotAllowed(allow: endpoint.allow, request)
            }
        } else {
            response = .serverNotFound(request)
        }
        if endpoint.isCrossOrigin { CrossOrigin.expose(&response, to: endpoint.readers.include(origin, known) ? origin : nil) }
        response.trace.route = endpoint.path.name
        return response
    }

    /// Returns the organization's configuration; `nil` if it does not contain the named server. A recent snapshot is sufficient, because
    /// the engine reads the store again for its decisions. If the snapshot lacks the server, which may be new, the store is read. If the
    /// store fails, the last known configuration is used, so that discovery and the key set stay available.
    private func snapshot(naming server: String?) async throws -> OrgSnapshot? {
        if let known = engine.recentSnapshot, known.server(server) != nil { return known }
        let snapshot: OrgSnapshot
        do { snapshot = try await engine.snapshot() } catch {
            guard let known = engine.latestSnapshot, known.server(server) != nil else { throw error }
            return known
        }
        return snapshot.server(server) == nil ? nil : snapshot
    }
}
