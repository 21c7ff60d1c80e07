internal import Foundation
internal import HTTPTypes
package import IdentityCore
package import ServerHTTP

extension Endpoint {
    /// Creates an endpoint for form requests of authenticated clients. It reads the form, applies the rate limits, and adds the rate-limit
    /// headers to every response.
    /// - Parameters:
    ///   - isCrossOrigin: Whether pages of other origins may call it.
    ///   - acceptsQuery: Whether a public client may send its `client_id` in the query.
    ///   - acceptsJSON: Whether the body may also be a JSON object.
    ///   - respond: Handles a readable form.
    package init(
        backchannel path: RoutePath, engine: Engine, isCrossOrigin: Bool = true, acceptsQuery: Bool = false,
        acceptsJSON: Bool = false,
        respond: @escaping @Sendable (Call, ProtocolForm) async throws -> ServerResponse
    ) {
        self.init(path, methods: [.post], isCrossOrigin: isCrossOrigin) { call in
            let form: ProtocolForm
            do {
                form = try ProtocolForm(reading: call, acceptsQuery: acceptsQuery, acceptsJSON: acceptsJSON)
            } catch let refusal as Refusal {
                let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
                var response = Self.unreadable(refusal, call.request)
                response.headers.set(limit)
                return response
            }
            let limit = engine.countRequest(clientID: form.clientID, snapshot: call.snapshot, context: call.request.context)
            guard limit.isAdmitted else {
                return .tooManyRequests(limit, to: call.request).traced(client: form.clientID)
            }
            var response = try await respond(call, form).traced(client: form.clientID)
            if response.headers[.rateLimitLimit] == nil { response.headers.set(limit) }
            return response
        }
    }

    private static func unreadable(_ refusal: Refusal, _ request: ServerRequest) -> ServerResponse {
        guard request.isTooLarge else { return .refusal(refusal, to: request, triedBasic: true) }
        var response = ServerResponse.refusal(refusal, to: request)
        response.status = .contentTooLarge
        response.closesConnection = true
        return response
    }
}
