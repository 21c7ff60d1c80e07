import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks for tokens with what a flow has got.
///
/// A request that was sent is seen through even if its caller has left, so that tokens that nobody gets can be given back.
struct GrantRequest: OAuth2TokenRequest, ProvidesTokenContext {
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let bodyParameters: [String: any APIRequestArgument]?
    let tokenContext: Token.Context
    let tokenValidatorContext: any IDTokenValidatorContext
    let passage: RequestPassage

    var headers: [String: (any APIRequestArgument)?]? { passage.headers }
    var timeoutInterval: TimeInterval { passage.timeoutInterval }

    func resultType(from response: HTTPURLResponse) -> APIResponseResult {
        passage.result(of: response)
    }
}

extension OAuth2Client {
    /// Asks for tokens.
    ///
    /// - Parameters:
    ///   - grant: With what.
    ///   - parameters: What belongs to the grant. They come before all others.
    ///   - context: What the sign-in asks for.
    ///   - flow: The flow's further parameters.
    ///   - expectations: What the ID token must show.
    ///   - passage: The request on its way.
    /// - Returns: The tokens, validated.
    /// - Throws: What `exchange(token:)` throws.
    func tokens(
        _ grant: GrantType, _ parameters: [String: any APIRequestArgument], context: some AuthenticationContext,
        flow: [String: any APIRequestArgument]?, expectations: any IDTokenValidatorContext = NullIDTokenValidatorContext(),
        passage: RequestPassage = RequestPassage()
    ) async throws -> Token {
        var body = self.parameters(for: .token, flow: flow, context: context)
        body.merge(parameters) { $1 }
        body["grant_type"] = grant
        let request = GrantRequest(
            openIdConfiguration: try await openIdConfiguration(), clientConfiguration: configuration, bodyParameters: body,
            tokenContext: Token.Context(configuration: configuration, acrValues: context.acrValues), tokenValidatorContext: expectations,
            passage: passage)
        return try await passage.seeThrough { [self] in try await exchange(token: request).result }
    }

    /// The parameters of a request of a flow: what the configuration and the SDK set comes last, and wins.
    func parameters(
        for category: OAuth2APIRequestCategory, flow: [String: any APIRequestArgument]?, context: any ProvidesOAuth2Parameters
    ) -> [String: any APIRequestArgument] {
        var parameters = flow
        parameters.merge(context.parameters(for: category))
        parameters.merge(configuration.parameters(for: category))
        return parameters ?? [:]
    }
}
