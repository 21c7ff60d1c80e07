internal import HTTPTypes
package import IdentityCore
package import ServerHTTP

extension Endpoint {
    /// Returns all endpoints of the classic API.
    package static func classic(_ engine: Engine, _ transport: BrowserTransport) -> [Endpoint] {
        authn(engine, transport) + recovery(engine, transport) + sessions(engine, transport) + users(engine) + userFactors(engine)
    }

    /// Creates an endpoint of the classic API. It counts the request against the limit of its address. A ``ClassicRefusal`` that `respond`
    /// throws becomes the response.
    /// - Parameters:
    ///   - forEndUser: Whether a trusted back end may send the address of the end user.
    ///   - answersHead: Whether `respond` also handles `HEAD` requests; otherwise they have no effect.
    init(
        classic path: RoutePath, methods: [HTTPRequest.Method], isCrossOrigin: Bool = false, forEndUser: Bool = true,
        answersHead: Bool = true, engine: Engine, admits: @escaping Admission = Endpoint.areShort,
        respond: @escaping @Sendable (Call) async throws -> ServerResponse
    ) {
        self.init(path, methods: methods, isCrossOrigin: isCrossOrigin, readers: .trustedOrigins, admits: admits) { call in
            guard answersHead || call.request.head.method != .head else { return ServerResponse(status: .ok).uncached() }
            var call = call
            if forEndUser { call.request = call.request.ofEndUser(call.snapshot) }
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
            var response: ServerResponse
            do {
                guard limit.isAdmitted else { throw ClassicRefusal.tooManyRequests(limit, reason: "rate limit") }
                response = try await respond(call)
            } catch let refusal as ClassicRefusal {
                try await engine.noteRefused(refusal, operation: path.name, context: call.request.context)
                response = .refusal(refusal, to: call.request)
            }
            if response.headers[.rateLimitLimit] == nil { response.headers.set(limit) }
            return response.uncached()
        }
    }
}
