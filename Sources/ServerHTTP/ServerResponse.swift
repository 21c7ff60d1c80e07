package import HTTPTypes
package import IdentityCore
internal import JOSE

/// A response with its body or body stream.
package struct ServerResponse: Sendable, Redacted {
    /// The part of a response that is sent; only fault injection uses other values than ``whole``.
    package enum Delivery: Sendable, Equatable {
        case whole
        /// The headers, which announce the whole body, and the first bytes of the body; then the connection closes.
        case truncated(after: Int)
        /// Nothing; the connection closes.
        case dropped
    }

    package var status: HTTPResponse.Status
    /// Headers in addition to the common headers.
    package var headers: HTTPFields
    package var body: [UInt8]
    package var delivery: Delivery = .whole
    /// The function that sends the body in parts, instead of ``body``; `nil` for a response with a whole body.
    package var stream: Stream?
    /// Whether the connection closes after the response.
    package var closesConnection = false
    package var trace = Trace()

    /// A function that sends a body in parts by `send`, which throws if the client has disconnected.
    package typealias Stream = @Sendable (_ send: ([UInt8]) async throws -> Void) async throws -> Void

    /// Additional data for the access log and metrics. The client's id is the only value from the request.
    package struct Trace: Sendable {
        package var route = "unknown"
        package var clientID: String?
        package var reason: String?
        /// The time for which the request waited for a user's decision; `nil` for none. It does not count as processing time.
        package var held: Duration?
    }

    package init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// Creates a response from JSON in UTF-8.
    package init(status: HTTPResponse.Status = .ok, json: [UInt8], headers: HTTPFields = [:]) {
        self.init(status: status, headers: headers, body: json)
        self.headers[.contentType] = "application/json"
    }
}

extension ServerResponse {
    /// Forbids caching, as responses with tokens require (RFC 6749 section 5.1).
    package func uncached() -> ServerResponse {
        var response = self
        response.headers[.cacheControl] = "no-cache, no-store"
        response.headers[.pragma] = "no-cache"
        return response
    }

    /// Adds the client's id and the reason to the access log. A `nil` reason keeps the current one.
    package func traced(client: String?, reason: String? = nil) -> ServerResponse {
        var response = self
        response.trace.clientID = client.map(Self.printable)
        response.trace.reason = reason ?? response.trace.reason
        return response
    }

    /// Returns an unverified client id that is safe in logs: truncated, and without characters that could forge a log line.
    private static func printable(_ id: String) -> String {
        String(String.UnicodeScalarView(id.unicodeScalars.prefix(64).filter { (0x21...0x7E).contains($0.value) }))
    }
}

extension ServerResponse {
    package var description: String { "ServerResponse(\(status.code))" }
}

/// Header names in their exact spelling. Some official clients look up a header in lower case only.
extension HTTPField.Name {
    package static let requestID = literal("x-okta-request-id")
    package static let link = literal("Link")
    package static let rateLimitLimit = literal("x-rate-limit-limit")
    package static let rateLimitRemaining = literal("x-rate-limit-remaining")
    package static let rateLimitReset = literal("x-rate-limit-reset")
    package static let pragma = literal("Pragma")
    package static let forwardedFor = literal("X-Forwarded-For")
    package static let referrerPolicy = literal("Referrer-Policy")
    package static let frameOptions = literal("X-Frame-Options")
    package static let xAccelBuffering = literal("X-Accel-Buffering")
    package static let dpop = literal("DPoP")
    package static let dpopNonce = literal("DPoP-Nonce")
    package static let deviceToken = literal("X-Device-Token")
    package static let openerPolicy = literal("Cross-Origin-Opener-Policy")
    package static let fetchSite = literal("Sec-Fetch-Site")
    package static let fetchDestination = literal("Sec-Fetch-Dest")
    package static let prefer = literal("Prefer")
    package static let preferenceApplied = literal("Preference-Applied")

    /// Returns a header name. Call it only for the literals above: an invalid name stops the first request of any test.
    private static func literal(_ name: StaticString) -> HTTPField.Name {
        guard let field = HTTPField.Name(name.description) else { preconditionFailure("\(name) is no header name") }
        return field
    }
}

extension HTTPFields {
    /// The token with which the caller names the user's device (Documentation/Protocol/OAuth.md §4.4); `nil` if the header is missing,
    /// empty or longer than 32 bytes.
    package var deviceToken: String? { self[.deviceToken].flatMap { (1...32).contains($0.utf8.count) ? $0 : nil } }
}

extension HTTPFields {
    /// Sets the three rate limit headers, which clients need together.
    package mutating func set(_ limit: RateLimitStatus) {
        self[.rateLimitLimit] = String(limit.limit)
        self[.rateLimitRemaining] = String(limit.remaining)
        self[.rateLimitReset] = String(limit.reset.numericDate)
    }
}

extension ServerResponse {
    /// Counts the request against the rate limit of its address and sets the headers. Returns 429 if the limit is exceeded.
    package func counted(_ call: Endpoint.Call, by engine: Engine) -> ServerResponse {
        let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
        guard limit.isAdmitted else { return .tooManyRequests(limit, to: call.request) }
        var response = self
        response.headers.set(limit)
        return response
    }
}
