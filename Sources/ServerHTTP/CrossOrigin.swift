internal import HTTPTypes
package import IdentityCore

/// Cross-origin access from pages (Fetch standard). The endpoints that any origin may call read no cookie, and what protects them is in the
/// request itself; what the classic API answers is for the origins that the organization trusts.
package enum CrossOrigin {
    /// Whose pages may read an answer.
    package enum Readers: Sendable {
        /// Every page.
        case anyOrigin
        /// Pages of the organization's own origin and of those that the org file names.
        case trustedOrigins

        /// Whether a page of an origin may read.
        ///
        /// - Parameters:
        ///   - origin: The request's `Origin` header; nil from what is no page.
        ///   - snapshot: The configuration; nil if there is none.
        /// - Returns: Whether they may.
        package func include(_ origin: String?, _ snapshot: OrgSnapshot?) -> Bool {
            switch self {
            case .anyOrigin: true
            case .trustedOrigins: origin.flatMap { snapshot?.isTrusted(origin: $0) } ?? false
            }
        }
    }

    /// Whether the server accepts a request that sets cookies: from a program that is no browser, or from a page of the organization's own
    /// origin or of a trusted origin.
    ///
    /// Browsers send `Origin` with every POST unless they are configured not to. `Sec-Fetch-Site` covers those.
    package static func isTrustedCaller(_ request: ServerRequest, _ snapshot: OrgSnapshot) -> Bool {
        if let origin = request.head.headerFields[.origin] { return snapshot.isTrusted(origin: origin) }
        return ["same-origin", "none"].contains(request.head.headerFields[.fetchSite] ?? "none")
    }

    /// Answers a preflight of a page that may read the answer.
    ///
    /// - Parameters:
    ///   - request: The `OPTIONS` request.
    ///   - endpoint: What it asks about.
    /// - Returns: 204 with the permissions.
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

    /// Answers a preflight of a page that may not: nothing is permitted, so the browser does not send the request.
    package static func preflightDenied() -> ServerResponse {
        ServerResponse(status: .noContent, headers: [.vary: "Origin"])
    }

    /// Lets the page that asked read an answer.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - origin: The request's `Origin` header; nil from what is no page.
    package static func expose(_ response: inout ServerResponse, to origin: String?) {
        response.headers[.vary] = "Origin"
        guard let origin else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] =
            "Date, WWW-Authenticate, DPoP-Nonce, x-okta-request-id, x-rate-limit-limit, x-rate-limit-remaining, x-rate-limit-reset"
    }
}
