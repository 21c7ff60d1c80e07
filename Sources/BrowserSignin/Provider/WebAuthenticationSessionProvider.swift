#if canImport(AuthenticationServices) && (os(iOS) || os(macOS) || os(tvOS) || os(visionOS) || os(watchOS))
internal import AuthFoundation
internal import AuthenticationServices
internal import Foundation

/// A browser session in the system's web authentication session (`ASWebAuthenticationSession`). It receives redirects with the app's own
/// URL scheme. From iOS and tvOS 17.4, macOS 14.4, watchOS 10.4 and visionOS 1.1 on, it also receives https redirects, by host and path.
/// The host's `apple-app-site-association` file must name the app.
@MainActor
final class WebAuthenticationSessionProvider: NSObject, BrowserSignin.ForgettingProvider {
    private let anchor: BrowserSignin.WindowAnchor?
    let isEphemeral: Bool
    private let redirect = Decision<URL>()

    init(anchor: BrowserSignin.WindowAnchor?, isEphemeral: Bool) {
        self.anchor = anchor
        self.isEphemeral = isEphemeral
    }

    func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL {
        let session = try makeSession(authorizeUrl, redirectUri)
        #if !os(tvOS)
        session.prefersEphemeralWebBrowserSession = isEphemeral
        #endif
        #if os(iOS) || os(macOS) || os(visionOS)
        session.presentationContextProvider = self
        #endif
        // The session was cancelled before it started.
        if let decided = redirect.result { return try decided.get() }
        #if !os(tvOS)
        // Close the sheet on every exit. On tvOS, only the user can close it.
        defer { session.cancel() }
        #endif
        guard session.start() else { throw BrowserSigninError.cannotStartBrowserSession }
        return try await redirect.value()
    }

    nonisolated func cancel() {
        redirect.decide(.failure(BrowserSigninError.userCancelledLogin()))
    }

    private func makeSession(_ page: URL, _ redirectUri: URL) throws -> ASWebAuthenticationSession {
        let completion: @Sendable (URL?, (any Error)?) -> Void = { [redirect] url, error in
            redirect.decide(Self.result(url, error))
        }
        guard let scheme = redirectUri.scheme?.lowercased() else { throw BrowserSigninError.invalidRedirectScheme(nil) }
        switch scheme {
        case "http":
            throw BrowserSigninError.invalidRedirectScheme(scheme)
        case "https":
            guard #available(iOS 17.4, macOS 14.4, tvOS 17.4, watchOS 10.4, visionOS 1.1, *), let host = redirectUri.host() else {
                throw BrowserSigninError.invalidRedirectScheme(scheme)
            }
            return ASWebAuthenticationSession(
                url: page, callback: .https(host: host, path: redirectUri.path()), completionHandler: completion)
        default:
            return ASWebAuthenticationSession(url: page, callbackURLScheme: scheme, completionHandler: completion)
        }
    }

    nonisolated private static func result(_ url: URL?, _ error: (any Error)?) -> Result<URL, any Error> {
        if let url { return .success(url) }
        guard let error else { return .failure(BrowserSigninError.noAuthenticatorProviderResponse) }
        guard let error = error as? ASWebAuthenticationSessionError else {
            return .failure(BrowserSigninError.authenticationProvider(error: error))
        }
        switch error.code {
        case .canceledLogin:
            // If the system closed the sheet itself, it gives the reason.
            return .failure(BrowserSigninError.userCancelledLogin(error.userInfo[NSLocalizedFailureReasonErrorKey] as? String))
        case .presentationContextInvalid, .presentationContextNotProvided:
            return .failure(BrowserSigninError.cannotStartBrowserSession)
        @unknown default:
            return .failure(BrowserSigninError.authenticationProvider(error: error))
        }
    }
}

#if os(iOS) || os(macOS) || os(visionOS)
extension WebAuthenticationSessionProvider: ASWebAuthenticationPresentationContextProviding {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
        anchor ?? ASPresentationAnchor()
    }
}
#endif
#endif
