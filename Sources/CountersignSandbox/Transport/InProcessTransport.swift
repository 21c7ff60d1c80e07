public import AuthFoundation
internal import AuthorizationServer
public import Foundation
internal import HTTPTypes
internal import NIOConcurrencyHelpers
internal import ResourceServer

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A transport that sends the SDK's requests to a sandbox in the same process, without a port.
///
/// A simulated connection fault becomes the error that URLSession would report. Requests to other hosts fail, so that nothing leaves the
/// process. A transport can be used from any task.
public struct InProcessTransport: URLSessionProtocol {
    private let servers: [AuthorizationServer]
    private let origin: URL
    /// The number of requests.
    private let count = NIOLockedValueBox(0)

    /// Creates a transport. The servers receive the requests in turn.
    init(_ servers: [AuthorizationServer], origin: URL) { (self.servers, self.origin) = (servers, origin) }

    /// The configuration of a session without cookies and cache.
    public var configuration: URLSessionConfiguration { .ephemeral }

    /// Sends a request to the sandbox and waits for the complete response.
    /// - Throws: `URLError` if a fault closed the connection, or the request is for another host.
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
        // Fields with the same name are joined with commas (RFC 9110, 5.2), as in URLSession.
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
            let number = count.withLockedValue { count in
                count += 1
                return count
            }
            return try await servers[number % servers.count].respond(to: head, body: Array(request.httpBody ?? Data()))
        } catch is ConnectionClosed {
            throw URLError(.networkConnectionLost)
        }
    }

    /// Returns the path and the query, as in the request line.
    static func target(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }
}

/// A fetcher that connects the sample resource server to the sandbox without a port. The resource server need not trust the sandbox's
/// certificate.
struct InProcessFetcher: ResourceFetcher {
    let server: AuthorizationServer

    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        var head = HTTPRequest(
            method: request.form == nil ? .get : .post, scheme: request.url.scheme, authority: request.url.host(),
            path: InProcessTransport.target(of: request.url))
        head.headerFields[.authorization] = request.authorization
        if request.form != nil { head.headerFields[.contentType] = "application/x-www-form-urlencoded" }
        let (answer, body) = try await server.respond(to: head, body: Array((request.form ?? "").utf8))
        return FetchResponse(status: answer.status.code, body: body)
    }
}
