public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The purpose of a request.
public enum OAuth2APIRequestCategory: CaseIterable, Sendable {
    /// Discovery and keys.
    case configuration
    /// The URL that a browser opens.
    case authorization
    /// Tokens.
    case token
    /// Resources that an access token protects.
    case resource
    /// Anything else.
    case other
}

/// A type that adds parameters to requests.
public protocol ProvidesOAuth2Parameters {
    /// Returns the parameters for a category of requests.
    func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]?
}

extension [String: any APIRequestArgument]? {
    /// Adds parameters. Existing parameters with the same name are replaced.
    package mutating func merge(_ other: [String: any APIRequestArgument]?) {
        guard let other else { return }
        self = (self ?? [:]).merging(other) { $1 }
    }

    /// Returns the assurance levels of a sign-in, and the parameters without `acr_values`. The given levels replace those of the
    /// parameters.
    package func takingAssuranceLevels(
        or given: ClaimCollection<[String]?>
    ) -> (ClaimCollection<[String]?>, [String: any APIRequestArgument]?) {
        var others = self
        let levels = others?.removeValue(forKey: "acr_values")?.stringValue.whitespaceSeparated
        guard given.wrappedValue == nil, let levels, !levels.isEmpty else { return (given, others) }
        return (ClaimCollection(wrappedValue: levels), others)
    }
}

/// A request to one of an issuer's endpoints.
public protocol OAuth2APIRequest: APIRequest {
    /// The issuer's discovery document.
    var openIdConfiguration: OpenIdConfiguration { get }

    /// The purpose of the request.
    var category: OAuth2APIRequestCategory { get }
}

/// A token request.
public protocol OAuth2TokenRequest: OAuth2APIRequest, APIRequestBody, APIParsingContext where ResponseType == Token {
    /// The client's configuration.
    var clientConfiguration: OAuth2Client.Configuration { get }

    /// The parameters of the sign-in that the ID token must match.
    var tokenValidatorContext: any IDTokenValidatorContext { get }
}

extension OAuth2TokenRequest {
    /// POST.
    public var httpMethod: APIRequestMethod { .post }

    /// The issuer's token endpoint.
    public var url: URL { openIdConfiguration.tokenEndpoint }

    /// A URL-encoded form.
    public var contentType: APIContentType? { .formEncoded }

    /// JSON.
    public var acceptsType: APIContentType? { .json }

    /// The category for token requests.
    public var category: OAuth2APIRequestCategory { .token }

    /// A context without a nonce and without a maximum age.
    public var tokenValidatorContext: any IDTokenValidatorContext { NullIDTokenValidatorContext() }
}

/// A request that sends a form to an endpoint other than the token endpoint. The response is JSON.
package protocol FormRequest: OAuth2APIRequest, APIRequestBody {}

extension FormRequest {
    package var httpMethod: APIRequestMethod { .post }
    package var contentType: APIContentType? { .formEncoded }
    package var acceptsType: APIContentType? { .json }
    package var category: OAuth2APIRequestCategory { .other }
}

extension OAuth2APIRequest {
    /// Builds the request, including client authentication.
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

/// A request with a context that is stored with the tokens of its response.
package protocol ProvidesTokenContext {
    var tokenContext: Token.Context { get }
}

struct RefreshRequest: OAuth2TokenRequest, ConditionalRequest {
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let refreshToken: String
    let scope: [String]?
    /// The thumbprint of the key to which the refresh token is bound, if known.
    var dpopThumbprint: String?
    /// Throws if the refresh token may no longer be sent.
    var condition: @Sendable () throws -> Void = {}

    func checkCondition() throws { try condition() }

    /// A short timeout in seconds. A refresh without a response is retried, and servers accept a replaced refresh token for only about 30
    /// seconds.
    var timeoutInterval: TimeInterval { 20 }

    var bodyParameters: [String: any APIRequestArgument]? {
        var parameters = clientConfiguration.parameters(for: .token)
        parameters?["scope"] = nil
        parameters.merge(["grant_type": GrantType.refreshToken, "refresh_token": refreshToken])
        if let scope { parameters.merge(["scope": scope.joined(separator: " ")]) }
        return parameters
    }
}

struct DiscoveryRequest: APIRequest, HostBoundRequest {
    typealias ResponseType = OpenIdConfiguration
    let url: URL
    /// Ignores all caches. A cached copy from before a server change would make the client fail until the app is reinstalled.
    var cachePolicy: URLRequest.CachePolicy { .reloadIgnoringLocalAndRemoteCacheData }
    /// A short timeout in seconds, because a sign-in waits for the response.
    var timeoutInterval: TimeInterval { 20 }
}

struct KeysRequest: OAuth2APIRequest, RetryLimitedRequest {
    typealias ResponseType = JWKS
    let openIdConfiguration: OpenIdConfiguration
    let clientId: String
    var isRetried = true

    var url: URL { openIdConfiguration.jwksUri }
    var query: [String: (any APIRequestArgument)?]? { ["client_id": clientId] }
    var acceptsType: APIContentType? { .json }
    var category: OAuth2APIRequestCategory { .configuration }
    /// A short timeout in seconds, because a sign-in waits for the response.
    var timeoutInterval: TimeInterval { 20 }
}

/// A revocation request (RFC 7009).
typealias RevokeRequest = TokenStateRequest<Empty>
/// An introspection request (RFC 7662).
typealias IntrospectRequest = TokenStateRequest<TokenInfo>

struct TokenStateRequest<ResponseType: Decodable & Sendable>: FormRequest, IdempotentRequest {
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let url: URL
    let token: String
    let kind: Token.Kind

    var bodyParameters: [String: any APIRequestArgument]? {
        var parameters = clientConfiguration.parameters(for: category)
        parameters.merge(["token": token, "token_type_hint": kind.rawValue])
        return parameters
    }
}

/// A request for the user's profile (OpenID Connect Core 1.0 §5.3).
struct UserInfoRequest: OAuth2APIRequest {
    typealias ResponseType = UserInfo
    let openIdConfiguration: OpenIdConfiguration
    let url: URL
    let token: Token

    var acceptsType: APIContentType? { .json }
    var authorization: (any APIAuthorization)? { token }
    var category: OAuth2APIRequestCategory { .resource }
}
