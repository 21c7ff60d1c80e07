public import HTTPTypes
public import IdentityEngine
public import JOSE

/// A request with its whole body, as the front doors see it. Over a port or in process, it is the same.
public struct ServerRequest: Sendable, Redacted {
    /// Method, path, authority and headers.
    public var head: HTTPRequest
    /// The body; empty if there is none.
    public var body: [UInt8]
    /// When it arrived, from where, and its id.
    public var context: RequestContext
    /// Whether the body was longer than the server reads; ``body`` is empty then.
    package var isTooLarge = false
    /// The entries of `X-Forwarded-For` that no trusted proxy wrote.
    var unreadForwarded: [String] = []

    /// The path without the query.
    public let path: Substring
    /// The query without its question mark; nil if there is none.
    public let query: Substring?

    /// Describes a request.
    ///
    /// - Parameters:
    ///   - head: Method, path and headers.
    ///   - body: The whole body.
    ///   - context: When it arrived, from where, and its id.
    public init(head: HTTPRequest, body: [UInt8], context: RequestContext) {
        self.head = head
        self.body = body
        self.context = context
        let target = head.path ?? "/"
        if let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) {
            path = target[..<mark]
            query = target[target.utf8.index(after: mark)...]
        } else {
            path = target[...]
            query = nil
        }
    }

    /// The path's components; a leading, doubled or trailing slash gives an empty one, which no route has.
    var components: [Substring] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }
}

extension ServerRequest {
    /// The method and the path without the query.
    public var description: String { "ServerRequest(\(head.method.rawValue) \(path))" }
}
