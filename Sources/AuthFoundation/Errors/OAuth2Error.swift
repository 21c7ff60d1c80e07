public import Foundation

/// An error of a sign-in or another OAuth 2.0 operation.
public enum OAuth2Error: Error, Sendable {
    /// A URL is invalid.
    case invalidUrl
    /// A URL cannot be built.
    case cannotComposeUrl
    /// The server responded with an error.
    case server(error: OAuth2ServerError)
    /// The server is unreachable, or its response cannot be parsed.
    case network(error: APIClientError)
    /// There is no token of this kind.
    case missingToken(type: Token.Kind)
    /// The client's configuration is missing.
    case missingClientConfiguration
    /// The flow has not been started, or has ended.
    case invalidContext
    /// The client's configuration has no redirect URI.
    case redirectUriRequired
    /// The redirect URL is not acceptable.
    case redirectUri(_ url: URL, reason: RedirectReason)
    /// A signature is invalid.
    case signatureInvalid
    /// A redirect is missing: the server shows a page instead, sends no header `Location`, or redirects too often.
    case missingLocationHeader
    /// The server's response lacks a member.
    case missingOAuth2ResponseKey(_ name: String)
    /// The server's discovery document lacks a member.
    case missingOpenIdConfiguration(attribute: String)
    /// Any other error.
    case error(_ error: any Error)
    /// Tokens of this kind cannot be revoked.
    case cannotRevoke(type: Token.RevokeType)
    /// Several errors.
    case multiple(errors: [OAuth2Error])

    /// The reason why a redirect URL is not acceptable.
    public enum RedirectReason: Error, Equatable, Sendable {
        /// The URL is malformed.
        case invalid
        /// The URL has no code.
        case codeRequired
        /// The host or the path differs from the redirect URI.
        case hostOrPath
        /// The scheme differs from the redirect URI.
        case scheme(_ scheme: String?)
        /// A parameter is missing.
        case queryArgument(_ name: String)
        /// The state differs from the one in the request.
        case state(_ state: String?)
    }

    /// Creates the matching case for any error. Errors of the server and of the network become ``server(error:)`` and ``network(error:)``.
    public init(_ error: any Error) {
        switch error {
        case let error as OAuth2Error: self = error
        case let error as OAuth2ServerError: self = .server(error: error)
        case let error as APIClientError: self = error.serverError.map { .server(error: $0) } ?? .network(error: error)
        default: self = .error(error)
        }
    }
}

extension OAuth2Error: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch self {
        case .invalidUrl, .cannotComposeUrl, .missingClientConfiguration, .redirectUriRequired, .cannotRevoke: .appSetup
        case .server(let error): error.userText
        case .network(let error): error.userText
        case .missingToken(.refreshToken): Self.notRenewable
        case .missingToken: .incomplete
        case .invalidContext: .notStarted
        case .redirectUri, .missingLocationHeader: .incomplete
        case .signatureInvalid: .notVerified
        case .missingOAuth2ResponseKey: .unexpectedAnswer
        case .missingOpenIdConfiguration: .unsupported
        case .error(let error): ErrorText(of: error)
        case .multiple(let errors): ErrorText(ofAll: errors)
        }
    }

    private static let notRenewable = ErrorText(
        "Your sign-in can't be extended.", de: "Ihre Anmeldung kann nicht verlängert werden.", next: .signInAgain)

    /// The reason and a remedy, for developers. It contains no parameters of URLs.
    public var debugDescription: String {
        switch self {
        case .invalidUrl: "A URL is not valid. Check the issuer and the redirect URIs in the app's configuration."
        case .cannotComposeUrl: "The URL can't be put together. Check the issuer in the app's configuration."
        case .server(let error): error.debugDescription
        case .network(let error): error.debugDescription
        case .missingToken(let type):
            type == .refreshToken
                ? "There is no refresh token. Ask for the scope “offline_access” at sign-in."
                : "There is no token of the kind “\(type.rawValue)”."
        case .missingClientConfiguration: "The client's configuration is missing."
        case .invalidContext: "The flow has not been started, or has ended. Start it first."
        case .redirectUriRequired: "The configuration has no redirect URI. Add “redirectUri”."
        case .redirectUri(let url, let reason):
            "The redirect to \(url.scheme ?? "")://\(url.host() ?? "")\(url.path()) is not acceptable: \(reason.explanation)"
        case .signatureInvalid: "The signature is not valid."
        case .missingLocationHeader: "The server's redirect has no “Location” header."
        case .missingOAuth2ResponseKey(let name): "The server's answer lacks “\(name)”."
        case .missingOpenIdConfiguration(let attribute):
            "The server does not offer this: its discovery document lacks “\(attribute)”."
        case .error(let error): technicalText(of: error)
        case .cannotRevoke(let type): "Tokens of the kind “\(type)” can't be revoked."
        case .multiple(let errors):
            errors.isEmpty ? "Several operations failed." : errors.map(\.debugDescription).joined(separator: " ")
        }
    }
}

extension OAuth2Error.RedirectReason: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { .incomplete }

    /// The reason, for developers.
    public var debugDescription: String { "The redirect is not acceptable: \(explanation)" }

    /// The reason without the state, which can belong to another sign-in.
    fileprivate var explanation: String {
        switch self {
        case .invalid: "it is malformed."
        case .codeRequired: "it has no code."
        case .hostOrPath: "host and path are not those of the redirect URI."
        case .scheme(let scheme): "its scheme is “\(scheme ?? "")”, not that of the redirect URI."
        case .queryArgument(let name): "the parameter “\(name)” is missing."
        case .state: "its state is not the one that was sent. It may belong to another sign-in."
        }
    }
}

extension OAuth2Error: Equatable {
    /// Whether both values are the same case with equal associated values. Nested errors are equal if their types and values are equal.
    public static func == (lhs: OAuth2Error, rhs: OAuth2Error) -> Bool {
        switch (lhs, rhs) {
        case (.invalidUrl, .invalidUrl), (.cannotComposeUrl, .cannotComposeUrl),
            (.missingClientConfiguration, .missingClientConfiguration), (.invalidContext, .invalidContext),
            (.redirectUriRequired, .redirectUriRequired), (.signatureInvalid, .signatureInvalid),
            (.missingLocationHeader, .missingLocationHeader):
            true
        case (.server(let left), .server(let right)): left == right
        case (.network(let left), .network(let right)): left == right
        case (.missingToken(let left), .missingToken(let right)): left == right
        case (.redirectUri(let left, let leftReason), .redirectUri(let right, let rightReason)): left == right && leftReason == rightReason
        case (.missingOAuth2ResponseKey(let left), .missingOAuth2ResponseKey(let right)): left == right
        case (.missingOpenIdConfiguration(let left), .missingOpenIdConfiguration(let right)): left == right
        case (.error(let left), .error(let right)): isSame(left, right)
        case (.cannotRevoke(let left), .cannotRevoke(let right)): left == right
        case (.multiple(let left), .multiple(let right)): left == right
        default: false
        }
    }
}
