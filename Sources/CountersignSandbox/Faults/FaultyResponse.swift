internal import Foundation
internal import HTTPTypes
internal import JOSE
internal import ServerHTTP

/// The effects of faults on responses.
extension ServerResponse {
    /// Returns a response with a status that the endpoint did not choose.
    static func faulty(status: Int) -> ServerResponse {
        ServerResponse(
            status: HTTPResponse.Status(code: status),
            json: (["error": "server_error", "error_description": "A fault was injected into the sandbox."] as JSONValue).serialized())
    }

    /// Returns status 429 with the rate-limit headers. The reset time counts from the response's `Date`.
    static func rateLimited(resetAfter seconds: TimeInterval, now: Date) -> ServerResponse {
        let reset = Int(clamping: (now.timeIntervalSince1970 + seconds).rounded(.up))
        let body: JSONValue = [
            "errorCode": "E0000047", "errorSummary": "API call exceeded rate limit due to too many requests.", "errorLink": "E0000047",
            "errorId": "oaeSandbox", "errorCauses": [],
        ]
        var response = ServerResponse(status: .tooManyRequests, json: body.serialized())
        for (name, value) in [("x-rate-limit-limit", "1"), ("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", String(reset))] {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        return response
    }

    func delivered(_ delivery: Delivery) -> ServerResponse {
        var response = self
        response.delivery = delivery
        return response
    }

    func typed(_ contentType: String) -> ServerResponse {
        var response = self
        response.headers[.contentType] = contentType
        return response
    }
}
