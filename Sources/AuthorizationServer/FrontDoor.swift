internal import AuthnAPI
internal import DeviceAPI
internal import HTTPTypes
internal import IdentityCore
internal import OAuthEndpoints
internal import ServerHTTP
internal import SignInPages

/// From a request to the endpoint that answers it: path, authorization server, method, in this order.
struct FrontDoor: Sendable {
    private let engine: Engine
    private let endpoints: [String: Endpoint]
    private let openID: Endpoint
    private let oauth: Endpoint
    private let activation: Endpoint
    private let appleApps: Endpoint
    private let devices: [DeviceRoute: Endpoint]
    private let pages: PageWriter
    private let courier: any Courier

    /// Opens the doors of an engine.
    init(engine: Engine, courier: any Courier, pages: PageWriter, polls: HeldPolls? = nil) {
        self.engine = engine
        self.pages = pages
        self.courier = courier
        let cache = MetadataCache()
        openID = .discovery(.openID, cache: cache, engine: engine)
        activation = .activate(engine, pages)
        appleApps = .appleApps(cache: cache, engine: engine)
        oauth = .discovery(.oauth, cache: cache, engine: engine)
        let all: [Endpoint] = [
            .keys(cache: cache, engine: engine), .token(engine, polls), .introspect(engine), .revoke(engine), .userInfo(engine),
            .challenge(engine), .primaryAuthenticate("primary-authenticate", engine), .primaryAuthenticate("oob-authenticate", engine),
            .backchannelAuthorize(engine), .authorize(engine, pages), .pushAuthorizationRequest(engine), .logout(engine, pages),
            .deviceAuthorize(engine),
        ]
        devices = Endpoint.devices(engine)
        endpoints = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The names of all routes, for metrics.
    var routeNames: [String] {
        endpoints.keys.sorted() + devices.values.map(\.name).sorted() + ["enroll"] + Endpoint.signInNames
            + AuthnRoute.names + SessionRoute.names + UserFactorRoute.names + UserRoute.names + [
                openID.name, oauth.name, activation.name, appleApps.name, HealthEndpoint.live, HealthEndpoint.ready,
            ]
    }

    /// Answers a request. An error becomes an answer here, with what it says kept for the log.
    func respond(to request: ServerRequest) async -> ServerResponse {
        do {
            return try await route(request)
        } catch {
            var response = ServerResponse.failure(error, request)
            response.trace.reason = "\(error)"
            return response
        }
    }

    private func route(_ request: ServerRequest) async throws -> ServerResponse {
        switch Route(request.components) {
        case nil: return .pathNotFound(request)
        case .live: return HealthEndpoint.answerLive(request)
        case .ready: return await HealthEndpoint.answerReady(request, engine)
        case .discovery(let kind, let server):
            return try await call(kind == .openID ? openID : oauth, server: server, request)
        case .device(let route):
            guard let endpoint = devices[route] else { return .pathNotFound(request) }
            return try await call(endpoint, server: nil, request)
        case .signIn(let route):
            return try await call(.signIn(route, engine, pages), server: nil, request)
        case .authn(let route): return try await call(.authn(route, engine, pages.transport), server: nil, request)
        case .session(let route): return try await call(.session(route, engine, pages.transport), server: nil, request)
        case .userFactor(let route): return try await call(.userFactor(route, engine), server: nil, request)
        case .user(let route): return try await call(.user(route, engine), server: nil, request)
        case .activate: return try await call(activation, server: nil, request)
        case .appleApps: return try await call(appleApps, server: nil, request)
        case .enrollHere(let id): return try await call(.enrollHere(id, engine, pages), server: nil, request)
        case .endpoint(let name, let server):
            guard let endpoint = name.utf8.count <= 64 ? endpoints[name] : nil else {
                return try await snapshot(naming: server) == nil ? .serverNotFound(request) : .pathNotFound(request)
            }
            return try await call(endpoint, server: server, request)
        }
    }

    private func call(_ endpoint: Endpoint, server id: String?, _ request: ServerRequest) async throws -> ServerResponse {
        var response: ServerResponse
        let origin = request.head.headerFields[.origin]
        let known = try await snapshot(naming: id)
        if let snapshot = known, let server = snapshot.server(id) {
            if request.head.method == .options, endpoint.isCrossOrigin {
                let isReadable = endpoint.readers.include(origin, snapshot)
                response = isReadable ? CrossOrigin.preflight(request, for: endpoint) : CrossOrigin.preflightDenied()
                response.trace.route = endpoint.name
                return response
            }
            if endpoint.accepts(request.head.method) {
                response = try await endpoint.respond(Endpoint.Call(request: request, snapshot: snapshot, server: server, courier: courier))
            } else {
                response = .methodNotAllowed(allow: endpoint.allow, request)
            }
        } else {
            response = .serverNotFound(request)
        }
        if endpoint.isCrossOrigin { CrossOrigin.expose(&response, to: endpoint.readers.include(origin, known) ? origin : nil) }
        response.trace.route = endpoint.name
        return response
    }

    /// The configuration to answer a request by, if it has the server that the request names.
    ///
    /// What the engine last read is good enough to find the server and to count by (the engine reads the store again when it
    /// decides), except when it lacks the server: that may have been added since.
    private func snapshot(naming server: String?) async throws -> OrgSnapshot? {
        if let known = engine.latestSnapshot, known.server(server) != nil { return known }
        let snapshot = try await engine.snapshot()
        return snapshot.server(server) == nil ? nil : snapshot
    }
}
