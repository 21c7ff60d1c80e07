internal import AuthFoundation
public import Foundation
internal import OAuth2Auth

extension BrowserSignin {
    /// A browser session: shows the server's pages until the browser is sent to the redirect URI.
    ///
    /// It is made for one sign-in or sign-out.
    public protocol Provider: Sendable {
        /// Opens the server's page and waits for the redirect.
        ///
        /// - Parameters:
        ///   - authorizeUrl: The server's page.
        ///   - redirectUri: Where the browser is sent at the end, without the parameters that the server adds.
        /// - Returns: The whole URL that the browser was sent to. It is checked by the caller.
        /// - Throws: ``BrowserSigninError``; `CancellationError` if the task was cancelled.
        func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL

        /// Closes the session: ``open(authorizeUrl:redirectUri:)`` ends with ``BrowserSigninError/userCancelledLogin(_:)``. Nothing if it is
        /// not open.
        func cancel()
    }

    /// A provider that receives the redirect by itself, from a browser that it has no hold on, and tells where before the server is told.
    ///
    /// That browser is the person's own, and its cookies are: ``Option/ephemeralSession`` becomes `prompt=login`.
    public protocol ListeningProvider: Provider {
        /// Begins to listen for the redirect.
        ///
        /// - Parameters:
        ///   - redirectUri: The redirect URI of the settings.
        ///   - isAnswer: Whether a URL is the answer that is waited for, by its `state`. Others are refused, and the right one can still come.
        /// - Returns: The redirect URI with the port that is listened at.
        /// - Throws: ``BrowserSigninError``, among them ``BrowserSigninError/invalidRedirectScheme(_:)`` if such a redirect can't be received.
        func listen(for redirectUri: URL, isAnswer: @escaping @Sendable (URL) -> Bool) async throws -> URL
    }

    /// A provider that tells whether anything is left of its session when it has ended. Of an app's own providers that is not known.
    package protocol ForgettingProvider: Provider {
        /// Whether it begins without cookies, and keeps none.
        nonisolated var isEphemeral: Bool { get }
    }

    /// Makes the browser sessions.
    public protocol ProviderFactory: Sendable {
        /// Makes the browser session of one sign-in or sign-out.
        ///
        /// - Parameters:
        ///   - browserSignin: Who signs in or out.
        ///   - window: Where the session is to be shown; nil for wherever there is place.
        ///   - options: How the browser is to be used.
        /// - Returns: The session, which is not open yet.
        /// - Throws: ``BrowserSigninError`` if there can be none.
        nonisolated static func createWebAuthenticationProvider(
            for browserSignin: BrowserSignin, from window: WindowAnchor?, options: Option
        ) async throws -> any Provider
    }

    /// Makes the browser session of one sign-in or sign-out; as
    /// ``ProviderFactory/createWebAuthenticationProvider(for:from:options:)``.
    public typealias ProviderSource = @Sendable (BrowserSignin, WindowAnchor?, Option) async throws -> any Provider
}

/// The sessions of the system: its sheet for web sign-in on Apple's systems; the person's own browser where the redirect is to a loopback
/// address (RFC 8252, 7.3), which is for Linux and for command lines on macOS.
public enum SystemProviderFactory: BrowserSignin.ProviderFactory, Sendable {
    /// Makes the browser session of one sign-in or sign-out.
    ///
    /// - Parameters:
    ///   - browserSignin: Who signs in or out.
    ///   - window: Where the session is to be shown; nil for wherever there is place.
    ///   - options: How the browser is to be used.
    /// - Returns: The session.
    /// - Throws: ``BrowserSigninError/noCompatibleAuthenticationProviders`` if this system has neither.
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
