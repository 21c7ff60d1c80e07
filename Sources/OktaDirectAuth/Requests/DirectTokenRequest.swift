import AuthFoundation
import Foundation

/// Asks for tokens with a factor.
struct DirectTokenRequest: OAuth2TokenRequest, ProvidesTokenContext {
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let context: DirectAuthenticationFlow.Context
    let grant: GrantType
    let supportedGrants: [GrantType]
    let additionalParameters: [String: any APIRequestArgument]?
    let parameters: [String: any APIRequestArgument]

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
}
