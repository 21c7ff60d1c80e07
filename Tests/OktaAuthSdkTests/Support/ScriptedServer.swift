import AuthFoundation
import Foundation
import OktaAuthSdk

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server that answers from a script on its own thread, as an app's HTTP library would, and records its requests.
final class ScriptedServer: OktaHTTPRequestListenerProtocol, Sendable {
    struct Reply: Sendable {
        var status = 200
        var body: String?
        var failure: URLError.Code?
        var headers: [String: String] = [:]
    }

    /// A received request.
    struct Arrival: Sendable {
        let request: URLRequest

        var method: String { request.httpMethod ?? "" }
        var path: String { request.url?.path(percentEncoded: true) ?? "" }
        var query: String? { request.url?.query() }
        var url: String { request.url?.absoluteString ?? "" }
        var body: String { String(decoding: request.httpBody ?? Data(), as: UTF8.self) }
        func header(_ name: String) -> String? { request.value(forHTTPHeaderField: name) }
    }

    static let base = "https://id.example.test"

    private let script = Locked((replies: [Reply](), arrivals: [Arrival](), held: [@Sendable () -> Void](), holds: false))

    /// Sets the response to the next request.
    func answer(_ body: String?, status: Int = 200, failure: URLError.Code? = nil, headers: [String: String] = [:]) {
        script.withLock { $0.replies.append(Reply(status: status, body: body, failure: failure, headers: headers)) }
    }

    /// The requests in order.
    var arrivals: [Arrival] { script.withLock { $0.arrivals } }

    /// Holds responses until ``release()``.
    func hold() { script.withLock { $0.holds = true } }

    /// Releases the held responses, newest first.
    func releaseLatestFirst() {
        let held = script.withLock { script in
            defer { (script.held, script.holds) = ([], false) }
            return script.held
        }
        for answer in held.reversed() { answer() }
    }

    func sendRequest(_ request: URLRequest, completionHandler: @escaping (Data?, URLResponse?, (any Error)?) -> Void) {
        let reply: Reply? = script.withLock { script in
            script.arrivals.append(Arrival(request: request))
            return script.replies.isEmpty ? nil : script.replies.removeFirst()
        }
        let handler = Handler(call: completionHandler)
        let answer: @Sendable () -> Void = {
            // HTTP libraries call the handler on another thread.
            Thread.detachNewThread { Self.give(reply, to: request, handler) }
        }
        let isHeld = script.withLock { script in
            if script.holds { script.held.append(answer) }
            return script.holds
        }
        if !isHeld { answer() }
    }

    private static func give(_ reply: Reply?, to request: URLRequest, _ handler: Handler) {
        guard let reply, let url = request.url else { return handler.call(nil, nil, URLError(.cannotConnectToHost)) }
        if let failure = reply.failure { return handler.call(nil, nil, URLError(failure)) }
        let response = HTTPURLResponse(url: url, statusCode: reply.status, httpVersion: "HTTP/1.1", headerFields: reply.headers)
        handler.call(reply.body.map { Data($0.utf8) }, response, nil)
    }

    /// A completion handler. `@unchecked Sendable`: it is called exactly once, on another thread.
    private struct Handler: @unchecked Sendable {
        let call: (Data?, URLResponse?, (any Error)?) -> Void
    }
}
