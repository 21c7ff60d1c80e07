import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests a challenge: `primary-authenticate` for a first factor, `challenge` for a second factor.
struct ChallengeRequest<Response: Decodable & Sendable>: OAuth2APIRequest, APIRequestBody, APIParsingContext {
    typealias ResponseType = Response

    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let context: DirectAuthenticationFlow.Context
    let url: URL
    let parameters: [String: any APIRequestArgument]
    let passage: RequestPassage

    /// Creates a request to an endpoint next to the token endpoint, because the discovery document does not contain its URL.
    init(
        openIdConfiguration: OpenIdConfiguration, clientConfiguration: OAuth2Client.Configuration,
        context: DirectAuthenticationFlow.Context,
        endpoint: String, parameters: [String: any APIRequestArgument], passage: RequestPassage
    ) throws {
        self.openIdConfiguration = openIdConfiguration
        self.clientConfiguration = clientConfiguration
        self.context = context
        self.parameters = parameters
        self.passage = passage
        let tokenEndpoint = openIdConfiguration.tokenEndpoint
        guard tokenEndpoint.lastPathComponent == "token" else {
            throw OAuth2Error.missingOpenIdConfiguration(attribute: "token_endpoint ending in /token")
        }
        url = tokenEndpoint.deletingLastPathComponent().appending(path: endpoint)
    }

    var httpMethod: APIRequestMethod { .post }
    var contentType: APIContentType? { .formEncoded }
    var acceptsType: APIContentType? { .json }
    var category: OAuth2APIRequestCategory { .other }

    var bodyParameters: [String: any APIRequestArgument]? {
        var body = clientConfiguration.parameters(for: category)
        body.merge(context.parameters(for: category))
        body.merge(parameters)
        return body
    }

    func resultType(from response: HTTPURLResponse) -> APIResponseResult {
        passage.result(of: response)
    }
}
