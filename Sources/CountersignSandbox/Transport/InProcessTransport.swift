public import AuthFoundation
internal import AuthorizationServer
public import Foundation
internal import HTTPTypes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Carries the SDK's requests to a sandbox in the same process, without a port.
///
/// What a fault does to a connection becomes the error that URLSession would report. Requests to other hosts fail: nothing leaves the
/// process. `Sendable`; safe from any task.
public struct InProcessTransport: URLSessionProtocol {
    let server: AuthorizationServer
    let origin: URL

    /// The settings of a session without cookies and cache.
    public var configuration: URLSessionConfiguration { .ephemeral }

    /// Sends a request to the sandbox and waits for the whole answer.
    ///
    /// - Parameter request: The request.
    /// - Returns: The body and the answer's head.
    /// - Throws: `URLError` if the connection was broken by a fault, or the request is for another host.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        guard let url = request.url, url.scheme == origin.scheme, url.host() == origin.host(), url.port == origin.port else {
            throw URLError(.cannotFindHost)
        }
        try Task.checkCancellation()
        let (head, body) = try await answer(to: request, at: url)
        try Task.checkCancellation()
        if let length = head.headerFields[.contentLength].flatMap({ Int($0) }), length > body.count, head.status != .noContent {
            throw URLError(.networkConnectionLost)
        }
        var fields: [String: String] = [:]
        // Several of one name become one with commas (RFC 9110, 5.2), as URLSession has them.
        for field in head.headerFields {
            fields[field.name.canonicalName] = (fields[field.name.canonicalName].map { $0 + ", " } ?? "") + field.value
        }
        guard let response = HTTPURLResponse(url: url, statusCode: head.status.code, httpVersion: "HTTP/1.1", headerFields: fields) else {
            throw URLError(.badServerResponse)
        }
        return (Data(body), response)
    }

    private func answer(to request: URLRequest, at url: URL) async throws -> (HTTPResponse, [UInt8]) {
        var head = HTTPRequest(
            method: HTTPRequest.Method(request.httpMethod ?? "GET") ?? .get, scheme: url.scheme, authority: url.host(),
            path: Self.target(of: url))
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            if let name = HTTPField.Name(name) { head.headerFields[name] = value }
        }
        do {
            return try await server.respond(to: head, body: Array(request.httpBody ?? Data()))
        } catch is ConnectionClosed {
            throw URLError(.networkConnectionLost)
        }
    }

    /// Path and query as they would stand in the request line.
    static func target(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }
}
