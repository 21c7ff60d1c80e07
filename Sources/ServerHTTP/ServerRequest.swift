package import HTTPTypes
package import IdentityCore
internal import JOSE
internal import NIOConcurrencyHelpers

/// A request with its whole body, as the front doors see it. Over a port or in process, it is the same.
package struct ServerRequest: Sendable, Redacted {
    /// Method, path, authority and headers.
    package var head: HTTPRequest
    /// The body; empty if there is none.
    package var body: [UInt8]
    /// When it arrived, from where, and its id.
    package var context: RequestContext
    /// Whether the body was longer than the server reads; ``body`` is empty then.
    package var isTooLarge = false
    /// The entries of `X-Forwarded-For` that no trusted proxy wrote.
    package var unreadForwarded: [String] = []
    /// Observes whether the client closes the connection; `nil` in process, where the request's task is cancelled instead.
    package var observeClose: CloseObserver?

    /// Sets the handler that is called when the client closes its side of the connection, at once if it has. It replaces the previous
    /// handler; `nil` removes it.
    package typealias CloseObserver = @Sendable (_ handler: (@Sendable () -> Void)?) -> Void

    /// The path without the query.
    package let path: Substring
    /// The query without its question mark; nil if there is none.
    package let query: Substring?

    /// Describes a request.
    ///
    /// - Parameters:
    ///   - head: Method, path and headers.
    ///   - body: The whole body.
    ///   - context: When it arrived, from where, and its id.
    package init(head: HTTPRequest, body: [UInt8], context: RequestContext) {
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
    package var components: [Substring] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }
}

extension ServerRequest {
    /// The method and the path without the query.
    package var description: String { "ServerRequest(\(head.method.rawValue) \(path))" }
}

extension ServerRequest {
    /// The token of `Authorization: SSWS`; nil without it. The space after the scheme may be missing, as Okta's Python SDK sends it.
    ///
    /// At the classic API it is a back end's API token; at the device API, a token that the device signed.
    package var sswsToken: String? {
        guard let value = head.headerFields[values: .authorization].first, value.prefix(4).lowercased() == "ssws" else { return nil }
        let token = value.dropFirst(4).drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }
}

/// Makes the ids of requests: unique within a server's life by a counter, between lives and servers by a random start.
///
/// An id names a line of the log and is no secret.
package final class RequestIdentifiers: Sendable {
    private let prefix: String
    private let count = NIOLockedValueBox(UInt64(0))

    /// Makes a source of ids.
    /// - Parameter seed: Random, anew for every start of a server.
    package init(seed: UInt64) {
        let text = String(seed, radix: 36)
        prefix = String(repeating: "0", count: max(0, 13 - text.count)) + text
    }

    /// The next id: letters and digits.
    package func next() -> String {
        let number = count.withLockedValue { count in
            count += 1
            return count
        }
        return prefix + String(number, radix: 36)
    }
}
