internal import HTTPTypes

/// Cross-origin access from pages (Fetch standard). The endpoints read no cookie, so that any origin may call them; what
/// protects them is in the request itself.
enum CrossOrigin {
    /// Answers a preflight.
    ///
    /// - Parameters:
    ///   - request: The `OPTIONS` request.
    ///   - endpoint: What it asks about.
    /// - Returns: 204 with the permissions.
    static func preflight(_ request: ServerRequest, for endpoint: Endpoint) -> ServerResponse {
        var response = ServerResponse(status: .noContent)
        response.headers[.accessControlAllowOrigin] = request.head.headerFields[.origin] ?? "*"
        response.headers[.accessControlAllowMethods] = endpoint.methods.map(\.rawValue).joined(separator: ", ")
        response.headers[.accessControlAllowHeaders] =
            "Authorization, Content-Type, Accept, DPoP, X-Okta-User-Agent-Extended, X-Okta-Retry-For, X-Okta-Retry-Count"
        response.headers[.accessControlMaxAge] = "3600"
        response.headers[.vary] = "Origin"
        return response
    }

    /// Lets the page that asked read an answer.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - origin: The request's `Origin` header; nil from what is no page.
    static func expose(_ response: inout ServerResponse, to origin: String?) {
        response.headers[.vary] = "Origin"
        guard let origin else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] =
            "Date, WWW-Authenticate, DPoP-Nonce, x-okta-request-id, x-rate-limit-limit, x-rate-limit-remaining, x-rate-limit-reset"
    }
}
