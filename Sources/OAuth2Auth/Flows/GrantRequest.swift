import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A token request of a flow.
/// A request that has been sent runs to completion even if its caller is cancelled, so that unused tokens can be revoked.
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
    /// Requests tokens and validates them.
    /// - Parameters:
    ///   - parameters: The parameters of the grant. They override all others.
    ///   - flow: The flow's additional parameters.
    ///   - expectations: The requirements for the ID token.
    /// - Throws: Errors of `exchange(token:)`.
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

    /// Merges the parameters of a request. The configuration overrides the context, and the context overrides the flow.
    func parameters(
        for category: OAuth2APIRequestCategory, flow: [String: any APIRequestArgument]?, context: any ProvidesOAuth2Parameters
    ) -> [String: any APIRequestArgument] {
        var parameters = flow
        parameters.merge(context.parameters(for: category))
        parameters.merge(configuration.parameters(for: category))
        return parameters ?? [:]
    }
}
