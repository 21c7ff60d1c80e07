internal import AuthorizationServer
internal import Foundation
internal import HTTPTypes
internal import ResourceServer

/// Connects the sample resource server to the sandbox without a port, so that it need not trust the sandbox's certificate.
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
