package import HTTPTypes
package import IdentityCore
internal import JOSE

/// An answer with its whole body.
package struct ServerResponse: Sendable, Redacted {
    /// How an answer reaches the peer: whole, unless a test wants it otherwise.
    package enum Delivery: Sendable, Equatable {
        /// All of it.
        case whole
        /// The headers, which announce the whole body, and some bytes of it; then the connection closes.
        case truncated(after: Int)
        /// Nothing: the connection closes.
        case dropped
    }

    /// The status.
    package var status: HTTPResponse.Status
    /// The headers beside those that every answer gets.
    package var headers: HTTPFields
    /// The body; empty for none.
    package var body: [UInt8]
    /// How it reaches the peer.
    package var delivery: Delivery = .whole
    /// Sends the body piece by piece, in place of ``body``; nil for what has a whole body.
    package var stream: Stream?
    /// Whether the connection closes after it.
    package var closesConnection = false
    /// What the access log tells beside the status.
    package var trace = Trace()

    /// What sends a body: it is given how to send a piece, which throws when the peer is gone.
    package typealias Stream = @Sendable (_ send: ([UInt8]) async throws -> Void) async throws -> Void

    /// What the access log tells of a request beside its line; never a parameter's value but the client's id.
    package struct Trace: Sendable {
        package var route = "unknown"
        package var clientID: String?
        package var reason: String?
        /// How long the request waited for a user's decision: not a part of the server's own time.
        package var held: Duration?
    }

    /// Makes an answer.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: The headers beside those that every answer gets.
    ///   - body: The body; empty for none.
    package init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer in JSON.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - json: The text, in UTF-8.
    ///   - headers: Further headers.
    package init(status: HTTPResponse.Status = .ok, json: [UInt8], headers: HTTPFields = [:]) {
        self.init(status: status, headers: headers, body: json)
        self.headers[.contentType] = "application/json"
    }
}

extension ServerResponse {
    /// Forbids caches to keep it, as token-like answers must (RFC 6749 section 5.1).
    package func uncached() -> ServerResponse {
        var response = self
        response.headers[.cacheControl] = "no-cache, no-store"
        response.headers[.pragma] = "no-cache"
        return response
    }

    /// Notes for the access log which client and which check it was.
    package func traced(client: String?, reason: String? = nil) -> ServerResponse {
        var response = self
        response.trace.clientID = client.map(Self.printable)
        response.trace.reason = reason ?? response.trace.reason
        return response
    }

    /// A client id before it is known to be one: cut, and without what could forge a line of the log.
    private static func printable(_ id: String) -> String {
        String(String.UnicodeScalarView(id.unicodeScalars.prefix(64).filter { (0x21...0x7E).contains($0.value) }))
    }
}

extension ServerResponse {
    /// The status code.
    package var description: String { "ServerResponse(\(status.code))" }
}

/// Names of headers, spelled as they go over the wire. Official clients look some of them up in lower case only.
extension HTTPField.Name {
    package static let requestID = literal("x-okta-request-id")
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

    /// Only for the literals above: one that is no name stops the first request of any test.
    private static func literal(_ name: StaticString) -> HTTPField.Name {
        guard let field = HTTPField.Name(name.description) else { preconditionFailure("\(name) is no header name") }
        return field
    }
}

extension HTTPFields {
    /// What the caller calls the device that it speaks for; longer ones are not what the header is for (oauth reference 4.4).
    package var deviceToken: String? { self[.deviceToken].flatMap { (1...32).contains($0.utf8.count) ? $0 : nil } }
}

extension HTTPFields {
    /// Tells where a limit stands: all three headers, which clients need together.
    package mutating func set(_ limit: RateLimitStatus) {
        self[.rateLimitLimit] = String(limit.limit)
        self[.rateLimitRemaining] = String(limit.remaining)
        self[.rateLimitReset] = String(limit.reset.numericDate)
    }
}

extension ServerResponse {
    /// Counts the request against the limit of its address and tells in the headers where that stands; what is over it becomes
    /// 429.
    package func counted(_ call: Endpoint.Call, by engine: Engine) -> ServerResponse {
        let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
        guard limit.isAdmitted else { return .tooManyRequests(limit, to: call.request) }
        var response = self
        response.headers.set(limit)
        return response
    }
}
