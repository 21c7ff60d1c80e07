public import HTTPTypes
public import JOSE

/// An answer with its whole body.
public struct ServerResponse: Sendable, Redacted {
    /// How an answer reaches the peer: whole, unless a test wants it otherwise.
    public enum Delivery: Sendable, Equatable {
        /// All of it.
        case whole
        /// The headers, which announce the whole body, and some bytes of it; then the connection closes.
        case truncated(after: Int)
        /// Nothing: the connection closes.
        case dropped
    }

    /// The status.
    public var status: HTTPResponse.Status
    /// The headers beside those that every answer gets.
    public var headers: HTTPFields
    /// The body; empty for none.
    public var body: [UInt8]
    /// How it reaches the peer.
    public var delivery: Delivery = .whole
    /// Sends the body piece by piece, in place of ``body``; nil for what has a whole body.
    var stream: Stream?
    /// Whether the connection closes after it.
    var closesConnection = false
    /// What the access log tells beside the status.
    var trace = Trace()

    /// What sends a body: it is given how to send a piece, which throws when the peer is gone.
    typealias Stream = @Sendable (_ send: ([UInt8]) async throws -> Void) async throws -> Void

    /// What the access log tells of a request beside its line; never a parameter's value but the client's id.
    struct Trace: Sendable {
        var route = "unknown"
        var clientID: String?
        var reason: String?
    }

    /// Makes an answer.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: The headers beside those that every answer gets.
    ///   - body: The body; empty for none.
    public init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: [UInt8] = []) {
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
    public init(status: HTTPResponse.Status = .ok, json: [UInt8], headers: HTTPFields = [:]) {
        self.init(status: status, headers: headers, body: json)
        self.headers[.contentType] = "application/json"
    }
}

extension ServerResponse {
    /// Forbids caches to keep it, as token-like answers must (RFC 6749 section 5.1).
    func uncached() -> ServerResponse {
        var response = self
        response.headers[.cacheControl] = "no-cache, no-store"
        response.headers[.pragma] = "no-cache"
        return response
    }

    /// Notes for the access log which client and which check it was.
    func traced(client: String?, reason: String? = nil) -> ServerResponse {
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
    public var description: String { "ServerResponse(\(status.code))" }
}
