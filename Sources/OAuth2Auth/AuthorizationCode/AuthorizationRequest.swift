import AuthFoundation
import Foundation

/// The authorization request: the URL for the browser, and the optional pushed request.
struct AuthorizationRequest: Sendable {
    let client: OAuth2Client
    let provider: OpenIdConfiguration
    let context: AuthorizationCodeFlow.Context

    /// Returns the URL with all parameters, sorted by name.
    /// - Parameters:
    ///   - flow: The flow's additional parameters.
    ///   - step: Parameters of this request only.
    /// - Throws: `OAuth2Error.cannotComposeUrl` if the server's endpoint is not a valid URL.
    func components(
        flow: [String: any APIRequestArgument]?, step: [String: any APIRequestArgument] = [:]
    ) throws -> URLComponents {
        var parameters = client.parameters(for: .authorization, flow: flow, context: context)
        parameters.merge(step) { $1 }
        if let redirectUri = context.redirectUri { parameters["redirect_uri"] = redirectUri }
        // Prevents the exchange of a stolen code with another key (RFC 9449 §10).
        if let thumbprint = try client.dpopThumbprint() { parameters["dpop_jkt"] = thumbprint }
        // Browser URLs appear in the history and in server logs.
        parameters["client_secret"] = nil
        return try endpoint(adding: parameters)
    }

    /// Returns the URL for the browser, either as given or with a reference to a pushed request (RFC 9126 §4). The request is pushed if the
    /// server supports this, unless the context disables it. If the push fails, the error is thrown: the parameters are not sent through
    /// the browser instead.
    func url(_ components: URLComponents) async throws -> URL {
        let isRequired = provider.json["require_pushed_authorization_requests"]?.bool == true
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

/// A pushed authorization request (RFC 9126 §2.1).
struct PushedAuthorizationRequest: FlowRequest {
    struct ResponseType: Decodable, Sendable {
        let requestURI: String

        private enum CodingKeys: String, CodingKey {
            case requestURI = "request_uri"
        }
    }

    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let url: URL
    let parameters: [String: any APIRequestArgument]
}
