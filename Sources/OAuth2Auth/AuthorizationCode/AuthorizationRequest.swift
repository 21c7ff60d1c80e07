import AuthFoundation
import Foundation

/// The URL that a browser is sent to, and what the server is told of it beforehand.
struct AuthorizationRequest: Sendable {
    let client: OAuth2Client
    let provider: OpenIdConfiguration
    let context: AuthorizationCodeFlow.Context

    /// The URL with all parameters, sorted by name.
    ///
    /// - Parameters:
    ///   - flow: The flow's further parameters.
    ///   - step: Parameters that only this request has.
    /// - Returns: The URL in parts.
    /// - Throws: `OAuth2Error.cannotComposeUrl` if the server's endpoint is no URL that parameters can be added to.
    func components(
        flow: [String: any APIRequestArgument]?, step: [String: any APIRequestArgument] = [:]
    ) throws -> URLComponents {
        var parameters = client.parameters(for: .authorization, flow: flow, context: context)
        parameters.merge(step) { $1 }
        if let redirectUri = context.redirectUri { parameters["redirect_uri"] = redirectUri }
        // A code that is stolen can't be traded with another key (RFC 9449, 10).
        if let thumbprint = try client.dpopThumbprint() { parameters["dpop_jkt"] = thumbprint }
        // What a browser is told stands in its history and in the server's logs.
        parameters["client_secret"] = nil
        return try endpoint(adding: parameters)
    }

    /// The URL for the browser: as it is, or with a reference to what has been pushed (RFC 9126, 4).
    ///
    /// A server that offers it is used in this way unless the context forbids it; a push that fails is an error, and no reason to send the
    /// parameters through the browser after all.
    func url(_ components: URLComponents) async throws -> URL {
        let isRequired = provider.json["require_pushed_authorization_requests"] == .bool(true)
        let endpoint: URL? = provider[.pushedAuthorizationRequestEndpoint]
        guard isRequired || (context.pushedAuthorizationRequestEnabled && endpoint != nil) else {
            guard let url = components.url else { throw OAuth2Error.cannotComposeUrl }
            return url
        }
        guard let endpoint else {
            throw OAuth2Error.missingOpenIdConfiguration(
                attribute: OpenIdConfiguration.ProviderMetadata.pushedAuthorizationRequestEndpoint.rawValue)
        }
        guard LoopbackRule.isAcceptable(endpoint) else { throw OAuth2Error.invalidUrl }
        var parameters = [String: String]((components.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
        parameters["request_uri"] = nil
        let request = PushedAuthorizationRequest(
            openIdConfiguration: provider, clientConfiguration: client.configuration, url: endpoint, parameters: parameters)
        let pushed = try await request.send(to: client).result
        guard
            let url = try self.endpoint(adding: ["client_id": client.configuration.clientId, "request_uri": pushed.requestURI]).url
        else { throw OAuth2Error.cannotComposeUrl }
        return url
    }

    private func endpoint(adding parameters: [String: any APIRequestArgument]) throws -> URLComponents {
        guard var components = URLComponents(url: provider.authorizationEndpoint, resolvingAgainstBaseURL: true) else {
            throw OAuth2Error.cannotComposeUrl
        }
        components.percentEncodedQuery = FormEncoding.query(
            adding: parameters.map { ($0, $1.stringValue) }, to: components.percentEncodedQuery)
        components.fragment = nil
        return components
    }
}

/// Tells the server what a browser is going to ask for (RFC 9126, 2.1).
struct PushedAuthorizationRequest: OAuth2APIRequest, APIRequestBody {
    struct ResponseType: Decodable, Sendable {
        let requestURI: String

        private enum CodingKeys: String, CodingKey {
            case requestURI = "request_uri"
        }
    }

    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let url: URL
    let parameters: [String: String]

    var httpMethod: APIRequestMethod { .post }
    var contentType: APIContentType? { .formEncoded }
    var acceptsType: APIContentType? { .json }
    var category: OAuth2APIRequestCategory { .other }
    var bodyParameters: [String: any APIRequestArgument]? {
        var body: [String: any APIRequestArgument]? = parameters
        body.merge(clientConfiguration.authentication.parameters(for: category))
        return body
    }
}
