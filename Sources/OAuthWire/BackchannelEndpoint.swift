internal import Foundation
internal import HTTPTypes
package import IdentityCore
package import ServerHTTP

extension Endpoint {
    /// An endpoint that takes a form from an authenticated client: reads it, counts it against the limits, and tells where they
    /// stand in every answer.
    ///
    /// - Parameters:
    ///   - name: For logs and metrics.
    ///   - engine: Counts and decides.
    ///   - isCrossOrigin: Whether pages of other origins may call it.
    ///   - acceptsQuery: Whether a public client may give its `client_id` in the query.
    ///   - acceptsJSON: Whether the parameters may come as the members of a JSON object.
    ///   - respond: What it does with a form that could be read.
    package init(
        backchannel name: String, engine: Engine, isCrossOrigin: Bool = true, acceptsQuery: Bool = false,
        acceptsJSON: Bool = false,
        respond: @escaping @Sendable (Call, ProtocolForm) async throws -> ServerResponse
    ) {
        self.init(name: name, methods: [.post], isCrossOrigin: isCrossOrigin) { call in
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
