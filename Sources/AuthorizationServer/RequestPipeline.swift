internal import HTTPTypes
internal import IdentityEngine
internal import Logging

/// What happens to every request, over a port or in process: it passes the interceptor and the front door, gets the headers
/// that every answer has, and is counted and logged.
struct RequestPipeline: Sendable {
    private let frontDoor: FrontDoor
    private let interceptor: AuthorizationServer.Interceptor?
    private let metrics: RequestMetrics
    private let log: AccessLog
    private let date = DateHeader()
    private let securityHeaders: HTTPFields
    private let transport: BrowserTransport
    private let engine: IdentityEngine

    init(
        engine: IdentityEngine, pushes: PushDelivery?, messages: MessageDelivery? = nil, logouts: LogoutDelivery? = nil,
        interceptor: AuthorizationServer.Interceptor?, pages: PageWriter, logger: Logger
    ) {
        self.engine = engine
        transport = pages.transport
        frontDoor = FrontDoor(engine: engine, pushes: pushes, messages: messages, logouts: logouts, pages: pages)
        self.interceptor = interceptor
        metrics = RequestMetrics(routes: frontDoor.routeNames)
        log = AccessLog(logger: logger)
        securityHeaders = [
            .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer", .frameOptions: "DENY",
            .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
    }

    /// Answers a request.
    ///
    /// - Parameter request: It.
    /// - Returns: The answer with all its headers, its body as it goes out (none for `HEAD`).
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
        let elapsed = start.duration(to: .now).components
        let nanoseconds = elapsed.seconds * 1_000_000_000 + elapsed.attoseconds / 1_000_000_000
        metrics.record(route: response.trace.route, status: response.status.code, nanoseconds: nanoseconds)
        log.record(request, response, nanoseconds: nanoseconds)
        return response
    }

    /// Adds what every answer has, unless it has it already.
    private func complete(_ response: inout ServerResponse, for request: ServerRequest) {
        if response.headers[.date] == nil { response.headers[.date] = date.text(at: request.context.now) }
        if response.headers[.requestID] == nil { response.headers[.requestID] = request.context.requestID }
        for field in securityHeaders where response.headers[field.name] == nil { response.headers.append(field) }
        if transport.asksForTLS(engine.latestSnapshot?.origin) { response.headers[.strictTransportSecurity] = "max-age=31536000" }
        if response.closesConnection { response.headers[.connection] = "close" }
        if response.status != .noContent, response.stream == nil { response.headers[.contentLength] = String(response.body.count) }
        if request.head.method == .head { (response.body, response.stream) = ([], nil) }
    }
}
