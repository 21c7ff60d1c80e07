package import HTTPTypes
package import IdentityCore
internal import JOSE
internal import NIOConcurrencyHelpers

/// A request with its whole body, received over a port or in process.
package struct ServerRequest: Sendable, Redacted {
    package var head: HTTPRequest
    package var body: [UInt8]
    package var context: RequestContext
    /// Whether the body exceeded the size limit; if so, ``body`` is empty.
    package var isTooLarge = false
    /// The entries of `X-Forwarded-For` that no trusted proxy wrote.
    package var unreadForwarded: [String] = []
    /// Observes whether the client closes the connection; `nil` in process, where the request's task is cancelled instead.
    package var observeClose: CloseObserver?

    /// A function that sets the handler for the client closing its side of the connection, in place of a previous handler; `nil` removes
    /// the handler. The function calls the handler at once if the client has already closed its side.
    package typealias CloseObserver = @Sendable (_ handler: (@Sendable () -> Void)?) -> Void

    package let path: Substring
    /// The query without its question mark; `nil` if there is none.
    package let query: Substring?

    package init(head: HTTPRequest, body: [UInt8], context: RequestContext) {
        (self.head, self.body, self.context) = (head, body, context)
        let target = head.path ?? "/"
        if let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) {
            path = target[..<mark]
            query = target[target.utf8.index(after: mark)...]
        } else {
            path = target[...]
            query = nil
        }
    }
}

extension ServerRequest {
    package var description: String { "ServerRequest(\(head.method.rawValue) \(path))" }
}

extension ServerRequest {
    /// The token of `Authorization: SSWS`; `nil` without it. The space after the scheme may be missing, as Okta's Python SDK sends it. At
    /// the classic API it is a back end's API token; at the device API, a token that the device signed.
    package var sswsToken: String? {
        guard let value = head.headerFields[values: .authorization].first, value.prefix(4).lowercased() == "ssws" else { return nil }
        let token = value.dropFirst(4).drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }
}

/// Generates request ids for logs; they are not secret. A counter makes them unique within a server, a random prefix across restarts and
/// servers.
package final class RequestIdentifiers: Sendable {
    private let prefix: String
    private let count = NIOLockedValueBox(UInt64(0))

    /// Creates a generator. `seed` must be a new random number at every start of a server.
    package init(seed: UInt64) {
        let text = String(seed, radix: 36)
        prefix = String(repeating: "0", count: max(0, 13 - text.count)) + text
    }

    /// Returns the next id, which consists of letters and digits.
    package func next() -> String {
        let number = count.withLockedValue { count in
            count += 1
            return count
        }
        return prefix + String(number, radix: 36)
    }
}
