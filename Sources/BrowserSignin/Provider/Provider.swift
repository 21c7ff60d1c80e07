internal import AuthFoundation
public import Foundation
internal import OAuth2Auth

extension BrowserSignin {
    /// A browser session for one sign-in or sign-out. It shows the server's pages until the browser is redirected to the redirect URI.
    public protocol Provider: Sendable {
        /// Opens the server's page and waits for the redirect.
        /// - Parameters:
        ///   - authorizeUrl: The server's page.
        ///   - redirectUri: The redirect URI, without the parameters that the server adds.
        /// - Returns: The complete redirect URL. The caller validates it.
        /// - Throws: ``BrowserSigninError``; `CancellationError` if the task was cancelled.
        func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL

        /// Closes the session: ``open(authorizeUrl:redirectUri:)`` throws ``BrowserSigninError/userCancelledLogin(_:)``. No-op if the
        /// session is not open.
        func cancel()
    }

    /// A provider that receives the redirect itself, from a browser that it does not control. It starts to listen before the request to the
    /// server, so that the request contains the actual redirect URI. The browser keeps its own cookies, so ``Option/ephemeralSession``
    /// becomes `prompt=login`.
    public protocol ListeningProvider: Provider {
        /// Starts to listen for the redirect.
        /// - Parameters:
        ///   - redirectUri: The configured redirect URI.
        ///   - isAnswer: Returns whether a URL is the expected redirect, by its `state`. Other requests are rejected, and the provider
        ///     continues to listen.
        /// - Returns: The redirect URI with the actual port.
        /// - Throws: ``BrowserSigninError``, for example ``BrowserSigninError/invalidRedirectScheme(_:)`` if the provider cannot receive a
        ///   redirect to this URI.
        func listen(for redirectUri: URL, isAnswer: @escaping @Sendable (URL) -> Bool) async throws -> URL
    }

    /// A provider that states whether its session keeps cookies. For an app's own providers, this is unknown.
    package protocol ForgettingProvider: Provider {
        /// Whether the session starts without cookies and stores none.
        nonisolated var isEphemeral: Bool { get }
    }

    /// A factory of browser sessions.
    public protocol ProviderFactory: Sendable {
        /// Creates the browser session for one sign-in or sign-out.
        /// - Parameters:
        ///   - browserSignin: The instance that signs the user in or out.
        ///   - window: The window for the session, or `nil` to let the system choose.
        ///   - options: Options for the browser session.
        /// - Returns: The session, not opened yet.
        /// - Throws: ``BrowserSigninError`` if no session is possible.
        nonisolated static func createWebAuthenticationProvider(
            for browserSignin: BrowserSignin, from window: WindowAnchor?, options: Option
        ) async throws -> any Provider
    }

    /// A function that creates the browser session for one sign-in or sign-out, like
    /// ``ProviderFactory/createWebAuthenticationProvider(for:from:options:)``.
    public typealias ProviderSource = @Sendable (BrowserSignin, WindowAnchor?, Option) async throws -> any Provider
}

extension BrowserSignin: BrowserSignin.ProviderFactory {
    /// Creates the default browser session for one sign-in or sign-out, like ``SystemProviderFactory``.
    /// - Throws: ``BrowserSigninError/noCompatibleAuthenticationProviders`` on a platform without a supported browser.
    nonisolated public static func createWebAuthenticationProvider(
        for webAuth: BrowserSignin, from window: WindowAnchor?, options: Option
    ) async throws -> any Provider {
        try await SystemProviderFactory.createWebAuthenticationProvider(for: webAuth, from: window, options: options)
    }
}

/// The default browser sessions. Apple platforms use the system's web authentication session. Linux always uses the user's own browser.
/// macOS uses the user's own browser if the redirect URI is a loopback address (RFC 8252 §7.3), as in command-line tools.
public enum SystemProviderFactory: BrowserSignin.ProviderFactory, Sendable {
    /// Creates the browser session for one sign-in or sign-out.
    /// - Parameters:
    ///   - browserSignin: The instance that signs the user in or out.
    ///   - window: The window for the session, or `nil` to let the system choose.
    ///   - options: Options for the browser session.
    /// - Throws: ``BrowserSigninError/noCompatibleAuthenticationProviders`` on a platform without a supported browser.
    nonisolated public static func createWebAuthenticationProvider(
        for browserSignin: BrowserSignin, from window: BrowserSignin.WindowAnchor?, options: BrowserSignin.Option
    ) async throws -> any BrowserSignin.Provider {
        #if os(Linux)
        return SystemBrowserProvider(clock: browserSignin.signInFlow.client.clock)
        #elseif os(macOS)
        if browserSignin.signInFlow.client.configuration.redirectUri.map(LoopbackRedirect.isOne) == true {
            return SystemBrowserProvider(clock: browserSignin.signInFlow.client.clock)
        }
        return await WebAuthenticationSessionProvider(anchor: window, isEphemeral: options.contains(.ephemeralSession))
        #elseif os(iOS) || os(tvOS) || os(visionOS) || os(watchOS)
        return await WebAuthenticationSessionProvider(anchor: window, isEphemeral: options.contains(.ephemeralSession))
        #else
        throw BrowserSigninError.noCompatibleAuthenticationProviders
        #endif
    }
}
