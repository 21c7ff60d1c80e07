import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tells the server that nobody goes on with a sign-in: the name of its transaction is revoked like a token (RFC 7009).
///
/// No `token_type_hint` goes with it: there is none for such names, and servers look for any kind without.
struct TransactionRevocation: OAuth2APIRequest, APIRequestBody, APIParsingContext {
    typealias ResponseType = Empty

    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let url: URL
    /// The `mfa_token` or the `oob_code`.
    let name: String

    /// Sends it, unless the issuer can't revoke.
    ///
    /// - Parameters:
    ///   - name: The `mfa_token` or the `oob_code`.
    ///   - client: The client that was given it.
    /// - Throws: What the request throws.
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

    /// Later the transaction is of no interest: it has expired, or will soon.
    var timeoutInterval: TimeInterval { 10 }

    var bodyParameters: [String: any APIRequestArgument]? {
        var body = clientConfiguration.parameters(for: category)
        body.merge(["token": name])
        return body
    }

    /// A rate limit is no reason to wait.
    func resultType(from response: HTTPURLResponse) -> APIResponseResult {
        (200..<300).contains(response.statusCode) ? .success : .error
    }
}
