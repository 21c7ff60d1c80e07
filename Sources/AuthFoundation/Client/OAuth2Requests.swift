public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What a request is for.
public enum OAuth2APIRequestCategory: CaseIterable, Sendable {
    /// Discovery and keys.
    case configuration
    /// What a browser is sent to.
    case authorization
    /// Tokens.
    case token
    /// What an access token gives access to.
    case resource
    /// Anything else.
    case other
}

/// Something that adds parameters to requests.
public protocol ProvidesOAuth2Parameters {
    /// The parameters for requests of a kind.
    ///
    /// - Parameter category: What the request is for.
    /// - Returns: The parameters.
    func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]?
}

extension [String: any APIRequestArgument]? {
    /// Adds parameters, which replace those of the same name.
    package mutating func merge(_ other: [String: any APIRequestArgument]?) {
        guard let other else { return }
        self = (self ?? [:]).merging(other) { $1 }
    }
}

/// A request to one of an issuer's endpoints.
public protocol OAuth2APIRequest: APIRequest {
    /// The issuer's discovery document.
    var openIdConfiguration: OpenIdConfiguration { get }

    /// What the request is for.
    var category: OAuth2APIRequestCategory { get }
}

/// A request for tokens.
public protocol OAuth2TokenRequest: OAuth2APIRequest, APIRequestBody, APIParsingContext where ResponseType == Token {
    /// The client's configuration.
    var clientConfiguration: OAuth2Client.Configuration { get }

    /// What the sign-in asked for, as far as it must show in the ID token.
    var tokenValidatorContext: any IDTokenValidatorContext { get }
}

extension OAuth2TokenRequest {
    /// Sends.
    public var httpMethod: APIRequestMethod { .post }

    /// The issuer's token endpoint.
    public var url: URL { openIdConfiguration.tokenEndpoint }

    /// The fields of a form.
    public var contentType: APIContentType? { .formEncoded }

    /// JSON.
    public var acceptsType: APIContentType? { .json }

    /// Tokens.
    public var category: OAuth2APIRequestCategory { .token }

    /// The sign-in asked for nothing in particular.
    public var tokenValidatorContext: any IDTokenValidatorContext { NullIDTokenValidatorContext() }
}

extension OAuth2APIRequest {
    /// Puts method, URL, headers and body together, with what proves who the client is.
    public func request(for client: any APIClient) throws -> URLRequest {
        var request = try head(for: client)
        if let client = client as? OAuth2Client { try client.prove(&request, for: self) }
        guard var parameters = (self as? any APIRequestBody)?.bodyParameters else {
            request.httpBody = try body()
            return request
        }
        if let client = client as? OAuth2Client, category == .token || category == .other {
            let proof = try client.proof(for: url)
            for name in proof.replaced { parameters[name] = nil }
            parameters.merge(proof.parameters) { $1 }
            for (name, value) in proof.headers { request.setValue(value, forHTTPHeaderField: name) }
        }
        request.httpBody = try contentType.encode(parameters)
        return request
    }
}

/// A request whose tokens remember what the sign-in asked for.
package protocol ProvidesTokenContext {
    var tokenContext: Token.Context { get }
}

/// Trades a refresh token for tokens.
struct RefreshRequest: OAuth2TokenRequest {
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let refreshToken: String
    let scope: [String]?
    /// The key that the refresh token is bound to, if that is known.
    var dpopThumbprint: String?

    /// A refresh whose answer is lost is repeated, and servers take a retired refresh token again for some 30 seconds only.
    var timeoutInterval: TimeInterval { 20 }

    var bodyParameters: [String: any APIRequestArgument]? {
        var parameters = clientConfiguration.parameters(for: .token)
        parameters?["scope"] = nil
        parameters.merge(["grant_type": GrantType.refreshToken, "refresh_token": refreshToken])
        if let scope { parameters.merge(["scope": scope.joined(separator: " ")]) }
        return parameters
    }
}

/// Fetches the discovery document.
struct DiscoveryRequest: APIRequest, HostBoundRequest {
    typealias ResponseType = OpenIdConfiguration
    let url: URL
    /// A copy from before a change of the server would make the client fail until the app is reinstalled.
    var cachePolicy: URLRequest.CachePolicy { .reloadIgnoringLocalAndRemoteCacheData }
    /// A sign-in waits for it.
    var timeoutInterval: TimeInterval { 20 }
}

/// Fetches the issuer's keys.
struct KeysRequest: OAuth2APIRequest {
    typealias ResponseType = JWKS
    let openIdConfiguration: OpenIdConfiguration
    let clientId: String

    var url: URL { openIdConfiguration.jwksUri }
    var query: [String: (any APIRequestArgument)?]? { ["client_id": clientId] }
    var acceptsType: APIContentType? { .json }
    var category: OAuth2APIRequestCategory { .configuration }
    /// A sign-in waits for it.
    var timeoutInterval: TimeInterval { 20 }
}

/// Revokes a token (RFC 7009).
struct RevokeRequest: OAuth2APIRequest, APIRequestBody, IdempotentRequest {
    typealias ResponseType = Empty
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let url: URL
    let token: String
    let kind: Token.Kind

    var httpMethod: APIRequestMethod { .post }
    var contentType: APIContentType? { .formEncoded }
    var acceptsType: APIContentType? { .json }
    var category: OAuth2APIRequestCategory { .other }
    var bodyParameters: [String: any APIRequestArgument]? {
        var parameters = clientConfiguration.parameters(for: category)
        parameters.merge(["token": token, "token_type_hint": kind.rawValue])
        return parameters
    }
}

/// Asks about a token (RFC 7662).
struct IntrospectRequest: OAuth2APIRequest, APIRequestBody, IdempotentRequest {
    typealias ResponseType = TokenInfo
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let url: URL
    let token: String
    let kind: Token.Kind

    var httpMethod: APIRequestMethod { .post }
    var contentType: APIContentType? { .formEncoded }
    var acceptsType: APIContentType? { .json }
    var category: OAuth2APIRequestCategory { .other }
    var bodyParameters: [String: any APIRequestArgument]? {
        var parameters = clientConfiguration.parameters(for: category)
        parameters.merge(["token": token, "token_type_hint": kind.rawValue])
        return parameters
    }
}

/// Reads the person's profile (OpenID Connect Core 1.0, 5.3).
struct UserInfoRequest: OAuth2APIRequest {
    typealias ResponseType = UserInfo
    let openIdConfiguration: OpenIdConfiguration
    let url: URL
    let token: Token

    var acceptsType: APIContentType? { .json }
    var authorization: (any APIAuthorization)? { token }
    var category: OAuth2APIRequestCategory { .resource }
}
