import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Revokes the transaction of a cancelled sign-in, like a token (RFC 7009).
/// Sends no `token_type_hint`, because none exists for these names. Without a hint, servers search all types.
struct TransactionRevocation: OAuth2APIRequest, APIRequestBody, APIParsingContext {
    typealias ResponseType = Empty

    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let url: URL
    let name: String

    /// Sends the revocation, unless the issuer has no revocation endpoint.
    static func send(_ name: String, through client: OAuth2Client) async throws {
        let provider = try await client.openIdConfiguration()
        guard let url: URL = provider[.revocationEndpoint], LoopbackRule.isAcceptable(url) else { return }
        let request = TransactionRevocation(
            openIdConfiguration: provider, clientConfiguration: client.configuration, url: url, name: name)
        _ = try await request.send(to: client)
    }

    var httpMethod: APIRequestMethod { .post }
    var contentType: APIContentType? { .formEncoded }
    var acceptsType: APIContentType? { .json }
    var category: OAuth2APIRequestCategory { .other }

    /// Short, because the transaction expires soon anyway.
    var timeoutInterval: TimeInterval { 10 }

    var bodyParameters: [String: any APIRequestArgument]? {
        var body = clientConfiguration.parameters(for: category)
        body.merge(["token": name])
        return body
    }

    /// Does not retry after a rate limit, because the transaction expires soon anyway.
    func resultType(from response: HTTPURLResponse) -> APIResponseResult {
        (200..<300).contains(response.statusCode) ? .success : .error
    }
}
