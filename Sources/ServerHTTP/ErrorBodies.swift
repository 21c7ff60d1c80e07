package import Foundation
package import HTTPTypes
package import IdentityCore
internal import JOSE
internal import Store

/// Error responses in the JSON format of the API.
extension ServerResponse {
    /// Creates an API error. Clients of OAuth endpoints cannot read objects in `errorCauses`: leave `causes` empty there.
    package static func api(
        _ status: HTTPResponse.Status, _ code: String, _ summary: String, causes: [String] = [], _ request: ServerRequest
    ) -> ServerResponse {
        let body: JSONValue = [
            "errorCode": .string(code), "errorSummary": .string(summary), "errorLink": .string(code),
            "errorId": .string("oae" + request.context.requestID), "errorCauses": .array(causes.map { ["errorSummary": .string($0)] }),
        ]
        return ServerResponse(status: status, json: body.serialized())
    }

    /// Creates an API error with rate limit headers and a reason for the access log.
    package static func api(
        _ code: String, status: Int, _ summary: String, causes: [String] = [], reason: String, limit: RateLimitStatus? = nil,
        to request: ServerRequest
    ) -> ServerResponse {
        var response = api(.init(code: status), code, summary, causes: causes, request)
        if let limit {
            response.headers.set(limit)
            response.headers[.retryAfter] = limit.retryAfter(request.context.now)
        }
        if request.isTooLarge { response.closesConnection = true }
        response.trace.reason = reason
        return response
    }

    package static func tooManyRequests(_ limit: RateLimitStatus, reason: String = "rate limit", to request: ServerRequest)
        -> ServerResponse
    {
        api("E0000047", status: 429, "Too many requests. Wait and try again.", reason: reason, limit: limit, to: request).uncached()
    }

    /// Returns 404 for an unknown path.
    package static func pathNotFound(_ request: ServerRequest) -> ServerResponse {
        api(.notFound, "E0000007", "Not found: there is no such resource on this server.", request)
    }

    /// Returns 404 for a path of an unknown authorization server.
    package static func serverNotFound(_ request: ServerRequest) -> ServerResponse {
        api(.notFound, "E0000007", "Not found: this organization has no such authorization server.", request)
    }

    /// Returns 405 with the methods that the path supports.
    package static func methodNotAllowed(allow: String, _ request: ServerRequest) -> ServerResponse {
        var response = api(.methodNotAllowed, "E0000022", "The endpoint does not support the method. Use: \(allow).", request)
        response.headers[.allow] = allow
        return response
    }

    /// Returns 503 if the store is unavailable, otherwise 500. The response does not reveal the error.
    package static func failure(_ error: any Error, _ request: ServerRequest) -> ServerResponse {
        if let error = error as? StoreError, [.unavailable, .unreachable, .closed].contains(error.code) {
            var response = api(.serviceUnavailable, "E0000010", "The service is unavailable for a moment. Try again.", request)
            response.headers[.retryAfter] = "1"
            return response.uncached()
        }
        let summary = "Internal server error. Report it with the error's id."
        return api(.internalServerError, "E0000009", summary, request).uncached()
    }
}

extension RateLimitStatus {
    /// Returns the value of `Retry-After`: whole seconds, at least 1.
    package func retryAfter(_ now: Date) -> String { String(max(1, Int(clamping: reset.timeIntervalSince(now).rounded(.up)))) }
}
