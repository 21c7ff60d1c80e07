import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A token request with a factor.
struct DirectTokenRequest: OAuth2TokenRequest, ProvidesTokenContext {
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let context: DirectAuthenticationFlow.Context
    let grant: GrantType
    let supportedGrants: [GrantType]
    let additionalParameters: [String: any APIRequestArgument]?
    let parameters: [String: any APIRequestArgument]
    let passage: RequestState

    var headers: [String: (any APIRequestArgument)?]? { passage.headers }
    var timeoutInterval: TimeInterval { passage.timeoutInterval }

    var tokenContext: Token.Context {
        Token.Context(configuration: clientConfiguration, acrValues: context.acrValues)
    }

    var bodyParameters: [String: any APIRequestArgument]? {
        var body = additionalParameters
        body.merge(clientConfiguration.parameters(for: .token))
        body.merge(context.parameters(for: .token))
        body.merge(parameters)
        body.merge([
            "grant_type": grant, "grant_types_supported": supportedGrants.map(\.rawValue).joined(separator: " "),
        ])
        return body
    }

    func resultType(from response: HTTPURLResponse) -> APIResponseResult {
        passage.result(of: response)
    }
}

/// A request for a challenge: `primary-authenticate` for a first factor, `challenge` for a second factor.
struct ChallengeRequest<Response: Decodable & Sendable>: FormRequest, APIParsingContext {
    typealias ResponseType = Response

    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let context: DirectAuthenticationFlow.Context
    let url: URL
    let parameters: [String: any APIRequestArgument]
    let passage: RequestState

    /// Creates a request to an endpoint next to the token endpoint, because the discovery document does not contain its URL.
    init(
        openIdConfiguration: OpenIdConfiguration, clientConfiguration: OAuth2Client.Configuration,
        context: DirectAuthenticationFlow.Context,
        endpoint: String, parameters: [String: any APIRequestArgument], passage: RequestState
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

/// A challenge that the server sent to another device of the user (Documentation/Protocol/OAuth.md §2.5).
/// The code, its lifetime and the binding method are required. Numbers may be strings, and the binding code may be a number. Other invalid
/// values count as missing, and unknown members are ignored.
struct OutOfBandChallenge: Decodable, Equatable, Sendable {
    /// The way in which the two devices are bound to the same sign-in.
    enum BindingMethod: String, Decodable, Sendable {
        /// No binding. The user only approves.
        case none
        /// The user enters here the code that the other device received.
        case prompt
        /// The user selects on the other device the code that is shown here.
        case transfer
    }

    let code: String
    /// The lifetime in seconds, from 0 (already expired) to 3600.
    let expiresIn: TimeInterval
    /// The polling interval in seconds; `nil` if the server sent none. Required only for polling.
    let interval: TimeInterval?
    let channel: DirectAuthenticationFlow.OOBChannel?
    let bindingMethod: BindingMethod
    let bindingCode: String?

    private enum CodingKeys: String, CodingKey {
        case code = "oob_code"
        case expiresIn = "expires_in"
        case interval, channel
        case bindingMethod = "binding_method"
        case bindingCode = "binding_code"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        code = try container.decode(String.self, forKey: .code)
        guard !code.isEmpty else { throw ClaimError.missingRequiredValue(key: CodingKeys.code.rawValue) }
        guard let lifetime = container.seconds(.expiresIn) else {
            throw ClaimError.missingRequiredValue(key: CodingKeys.expiresIn.rawValue)
        }
        expiresIn = min(max(lifetime, 0), ApprovalWait<DirectAuthenticationFlow.Status>.longestLifetime)
        interval = container.seconds(.interval)
        channel = container.text(.channel).flatMap(DirectAuthenticationFlow.OOBChannel.init(rawValue:))
        bindingMethod = try container.decode(BindingMethod.self, forKey: .bindingMethod)
        // The sample in the API documentation has a number.
        bindingCode = container.text(.bindingCode) ?? (try? container.decode(Int.self, forKey: .bindingCode)).map(String.init)
    }
}

/// A request that revokes the transaction of a cancelled sign-in, like a token (RFC 7009).
/// It has no `token_type_hint`, because no hint exists for these names. Without a hint, servers search all types.
struct TransactionRevocation: FormRequest, APIParsingContext {
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

    /// A short timeout in seconds, because the transaction expires soon anyway.
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
