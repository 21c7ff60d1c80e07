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
    let passage: RequestPassage

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

    /// Adds a description to errors of out-of-band factors, because some servers send none and users read it.
    func error(from data: Data) -> (any Error)? {
        guard grant == .oob || grant == .oobMFA, let error = try? JSONDecoder().decode(OAuth2ServerError.self, from: data),
            error.description?.isEmpty != false, let words = Self.words(for: error.code)
        else { return nil }
        return OAuth2ServerError(code: error.code.rawValue, description: words, additionalValues: error.additionalValues)
    }

    private static func words(for code: OAuth2ServerError.Code) -> String? {
        switch code {
        case .accessDenied: "The sign-in was denied."
        case .oobRejected: "The sign-in was denied on the other device."
        case .expiredToken: "The sign-in was not approved in time. Start again."
        default: nil
        }
    }
}
