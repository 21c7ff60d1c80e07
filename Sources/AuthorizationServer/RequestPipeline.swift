internal import HTTPTypes
internal import IdentityCore
internal import Logging
internal import OAuthEndpoints
internal import ServerHTTP
internal import SignInPages

/// Processes every request, over a port or in process: runs the interceptor and the endpoint, adds the common headers, records metrics and
/// the access log.
package struct RequestPipeline: Sendable {
    private let frontDoor: FrontDoor
    private let interceptor: AuthorizationServer.Interceptor?
    private let metrics: RequestMetrics
    private let log: AccessLog
    private let date = DateHeader()
    private let securityHeaders: HTTPFields
    private let transport: BrowserTransport
    private let engine: Engine
    private let clock: any WallClock

    init(
        engine: Engine, interceptor: AuthorizationServer.Interceptor?, pages: PageWriter, polls: HeldPolls?, readiness: Readiness,
        clock: any WallClock, logger: Logger
    ) {
        self.engine = engine
        self.clock = clock
        transport = pages.transport
        frontDoor = FrontDoor(engine: engine, pages: pages, polls: polls, readiness: readiness)
        self.interceptor = interceptor
        metrics = RequestMetrics(routes: frontDoor.routeNames)
        log = AccessLog(logger: logger)
        securityHeaders = [
            .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer", .frameOptions: "DENY",
            .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
    }

    /// Returns the final response with all headers. The body of a response to `HEAD` is empty.
    func respond(to request: ServerRequest) async -> ServerResponse {
        let start = ContinuousClock.now
        var request = request
        let cookies = BrowserCookies(isSecure: transport.isSecure(engine.latestSnapshot?.origin))
        request.context.browserDevice = cookies.device(of: request)
        var response: ServerResponse
        if let interceptor {
            response = await interceptor(request) { await frontDoor.respond(to: $0) }
        } else {
            response = await frontDoor.respond(to: request)
        }
        complete(&response, for: request)
        let elapsed = start.duration(to: .now)
        // The wait for a user's decision does not count as processing time.
        let own = elapsed - (response.trace.held ?? .zero)
        metrics.record(route: response.trace.route, status: response.status.code, nanoseconds: own.nanoseconds)
        log.record(request, response, nanoseconds: elapsed.nanoseconds)
        return response
    }

    /// Adds the common headers, except those that the response already has.
    private func complete(_ response: inout ServerResponse, for request: ServerRequest) {
        // Appended rather than set, because setting a field searches for it in all of its forms.
        if !response.headers.contains(.date) { response.headers.append(HTTPField(name: .date, value: date.text(at: clock.now))) }
        if !response.headers.contains(.requestID) {
            response.headers.append(HTTPField(name: .requestID, value: request.context.requestID))
        }
        for field in securityHeaders where !response.headers.contains(field.name) { response.headers.append(field) }
        if transport.asksForTLS(engine.latestSnapshot?.origin) { response.headers[.strictTransportSecurity] = "max-age=31536000" }
        if response.closesConnection { response.headers[.connection] = "close" }
        if response.status != .noContent, response.stream == nil { response.headers[.contentLength] = String(response.body.count) }
        if request.head.method == .head { (response.body, response.stream) = ([], nil) }
    }
}
