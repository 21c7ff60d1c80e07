internal import HTTPTypes
package import IdentityCore

/// Cross-origin access by web pages (Fetch standard). Endpoints that any origin may call read no cookies; the request itself carries the
/// credentials. Responses of the classic API are readable for trusted origins only.
package enum CrossOrigin {
    /// The origins whose pages may read a response.
    package enum Readers: Sendable {
        case anyOrigin
        /// The organization's own origin and the trusted origins of the org file.
        case trustedOrigins

        /// Whether pages of an origin may read the response. `origin` is the request's `Origin` header.
        package func include(_ origin: String?, _ snapshot: OrgSnapshot?) -> Bool {
            switch self {
            case .anyOrigin: true
            case .trustedOrigins: origin.flatMap { snapshot?.isTrusted(origin: $0) } ?? false
            }
        }
    }

    /// Whether to accept a request that sets cookies: from a page of the organization's own origin or of a trusted origin, or from a
    /// program that is not a browser. Browsers send `Origin` with every POST unless configured otherwise. Without `Origin`,
    /// `Sec-Fetch-Site` decides.
    package static func isTrustedCaller(_ request: ServerRequest, _ snapshot: OrgSnapshot) -> Bool {
        if let origin = request.head.headerFields[.origin] { return snapshot.isTrusted(origin: origin) }
        return ["same-origin", "none"].contains(request.head.headerFields[.fetchSite] ?? "none")
    }

    /// Answers a preflight request of a page that may read the response: 204 with the permissions.
    package static func preflight(_ request: ServerRequest, for endpoint: Endpoint) -> ServerResponse {
        var response = ServerResponse(status: .noContent)
        response.headers[.accessControlAllowOrigin] = request.head.headerFields[.origin] ?? "*"
        response.headers[.accessControlAllowMethods] = endpoint.methods.map(\.rawValue).joined(separator: ", ")
        response.headers[.accessControlAllowHeaders] =
            "Authorization, Content-Type, Accept, DPoP, X-Okta-User-Agent-Extended, X-Okta-Retry-For, X-Okta-Retry-Count"
        response.headers[.accessControlMaxAge] = "3600"
        response.headers[.vary] = "Origin"
        return response
    }

    /// Answers a preflight request of another page. The response permits nothing, so the browser does not send the request.
    package static func preflightDenied() -> ServerResponse {
        ServerResponse(status: .noContent, headers: [.vary: "Origin"])
    }

    /// Lets pages of an origin read a response; with `nil`, only adds `Vary`.
    package static func expose(_ response: inout ServerResponse, to origin: String?) {
        response.headers[.vary] = "Origin"
        guard let origin else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] =
            "Date, WWW-Authenticate, DPoP-Nonce, x-okta-request-id, x-rate-limit-limit, x-rate-limit-remaining, x-rate-limit-reset"
    }
}
