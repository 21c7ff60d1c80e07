public import AuthFoundation
public import Foundation

/// An error of a sign-in or sign-out in a browser.
public enum BrowserSigninError: Error, Sendable {
    /// No usable browser is available.
    case noCompatibleAuthenticationProviders
    /// The settings have no logout redirect URI.
    case noSignOutFlowProvided
    /// The browser cannot be opened.
    case cannotStartBrowserSession
    /// The URL for the browser cannot be built.
    case cannotComposeAuthenticationURL
    /// The browser session failed.
    case authenticationProvider(error: any Error)
    /// The browser session ended without a response.
    case noAuthenticatorProviderResponse
    /// The server rejected the request.
    case serverError(_ error: OAuth2ServerError)
    /// This platform cannot receive a redirect with the scheme of the redirect URI.
    case invalidRedirectScheme(_ scheme: String?)
    /// The user closed the browser session, or the app cancelled it.
    case userCancelledLogin(_ reason: String? = nil)
    /// The ID token is missing.
    case missingIdToken
    /// A flow failed.
    case oauth2(error: OAuth2Error)
    /// Any other error.
    case generic(error: any Error)
    /// Any other error, as a message.
    case genericError(message: String)

    /// Creates the matching case for any error. Errors of the server and of the flows keep their meaning.
    init(_ error: any Error) {
        switch error {
        case let error as BrowserSigninError: self = error
        case let error as OAuth2ServerError: self = .serverError(error)
        case is CancellationError: self = .userCancelledLogin()
        default:
            switch OAuth2Error(error) {
            case .server(let error): self = .serverError(error)
            case .error(let error): self = .generic(error: error)
            case let error: self = .oauth2(error: error)
            }
        }
    }
}

extension BrowserSigninError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch self {
        case .noCompatibleAuthenticationProviders, .cannotStartBrowserSession: .browserNotOpened
        case .noSignOutFlowProvided, .cannotComposeAuthenticationURL, .invalidRedirectScheme, .missingIdToken: .appSetup
        case .authenticationProvider(let error), .generic(let error): ErrorText(of: error)
        case .noAuthenticatorProviderResponse:
            ErrorText(
                "The browser was closed too early.", de: "Der Browser wurde zu früh geschlossen.", next: .tryAgain)
        case .serverError(let error): error.userText
        case .userCancelledLogin: .cancelled
        case .oauth2(let error): error.userText
        case .genericError: .somethingWrong
        }
    }

    /// The reason and a remedy, for developers. It contains no parameters of URLs.
    public var debugDescription: String {
        switch self {
        case .noCompatibleAuthenticationProviders: "There is no browser that could be used here."
        case .noSignOutFlowProvided: "The configuration has no logout redirect URI. Add “logoutRedirectUri”."
        case .cannotStartBrowserSession: "The browser can't be opened."
        case .cannotComposeAuthenticationURL: "The URL for the browser can't be put together. Check the issuer in the app's configuration."
        case .authenticationProvider(let error): technicalText(of: error)
        case .noAuthenticatorProviderResponse: "The browser session ended without an answer. Try again."
        case .serverError(let error): error.debugDescription
        case .invalidRedirectScheme(let scheme): Self.explanation(scheme: scheme)
        case .userCancelledLogin(let reason): reason ?? "The browser session was closed."
        case .missingIdToken: "There is no ID token. Ask for the scope “openid”."
        case .oauth2(let error): error.debugDescription
        case .generic(let error): technicalText(of: error)
        case .genericError(let message): message
        }
    }

    private static func explanation(scheme: String?) -> String {
        #if os(Linux)
        let fix =
            "Register a redirect URI such as http://127.0.0.1/callback with the issuer, for sign-in and for sign-out, and set it as “redirectUri” and “logoutRedirectUri”."
        #else
        let fix =
            "Set a redirect URI with a scheme of the app's own, such as com.example.app:/callback. An https one needs iOS 17.4 or macOS 14.4; http://127.0.0.1/callback works on macOS."
        #endif
        return "A redirect with the scheme “\(scheme ?? "")” can't be received here. \(fix)"
    }
}

extension ErrorText {
    static let browserNotOpened = ErrorText(
        "The browser could not be opened.", de: "Der Browser konnte nicht geöffnet werden.", next: .tryAgain)
}

extension BrowserSigninError: Equatable {
    /// Whether both values are the same case with equal associated values. Nested errors are equal if their types and values are equal.
    public static func == (lhs: BrowserSigninError, rhs: BrowserSigninError) -> Bool {
        switch (lhs, rhs) {
        case (.noCompatibleAuthenticationProviders, .noCompatibleAuthenticationProviders),
            (.noSignOutFlowProvided, .noSignOutFlowProvided), (.cannotStartBrowserSession, .cannotStartBrowserSession),
            (.cannotComposeAuthenticationURL, .cannotComposeAuthenticationURL),
            (.noAuthenticatorProviderResponse, .noAuthenticatorProviderResponse), (.missingIdToken, .missingIdToken):
            true
        case (.authenticationProvider(let left), .authenticationProvider(let right)), (.generic(let left), .generic(let right)):
            isSame(left, right)
        case (.serverError(let left), .serverError(let right)): left == right
        case (.invalidRedirectScheme(let left), .invalidRedirectScheme(let right)): left == right
        case (.userCancelledLogin(let left), .userCancelledLogin(let right)): left == right
        case (.oauth2(let left), .oauth2(let right)): left == right
        case (.genericError(let left), .genericError(let right)): left == right
        default: false
        }
    }
}

extension BrowserSigninError {
    /// The former spelling of ``noAuthenticatorProviderResponse``.
    @available(*, deprecated, renamed: "noAuthenticatorProviderResponse")
    public static var noAuthenticatorProviderResonse: Self { .noAuthenticatorProviderResponse }
}
