public import AuthFoundation
public import Foundation
public import OAuth2Auth

#if os(iOS) || os(tvOS) || os(visionOS)
public import UIKit
#elseif os(macOS)
public import AppKit
#endif

/// Sign-in and sign-out on the server's pages in a browser (RFC 8252).
///
/// ```swift
/// let token = try await BrowserSignin.shared?.signIn()
/// if let token { try Credential.store(token) }
/// ```
///
/// Only one sign-in or sign-out runs at a time. Starting another one, or calling ``cancel()``, cancels the current one: its call throws
/// ``BrowserSigninError/userCancelledLogin(_:)``. Cancelling the calling task throws `CancellationError`. All work runs on the main actor.
@MainActor
public final class BrowserSignin {
    #if os(iOS) || os(tvOS) || os(visionOS)
    /// The window in which the browser session is shown.
    public typealias WindowAnchor = UIWindow
    #elseif os(macOS)
    /// The window in which the browser session is shown.
    public typealias WindowAnchor = NSWindow
    #else
    /// The window in which the browser session is shown. Not used on this platform.
    public typealias WindowAnchor = Void
    #endif

    /// Options for the browser session.
    public struct Option: OptionSet, Sendable {
        /// The options as a bit set.
        public let rawValue: Int

        /// The browser session starts without cookies and stores none. The user's own browser does not support this. With that browser, the
        /// request asks for the credentials again (`prompt=login`).
        public static let ephemeralSession = Option(rawValue: 1 << 0)

        /// Creates options from a bit set.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    private static var sharedInstance: BrowserSignin?

    /// The most recently created instance. If there is none, the first use creates an instance from `Okta.plist`. `nil` if those settings
    /// cannot be read; the log contains the reason.
    public static var shared: BrowserSignin? {
        if let sharedInstance { return sharedInstance }
        do {
            return try BrowserSignin()
        } catch {
            ConfigurationLog.once("BrowserSignin.shared is nil: \(technicalText(of: error))")
            return nil
        }
    }

    /// The factory of the browser sessions of all later calls. The default is ``SystemProviderFactory``.
    public static var providerFactory: any ProviderFactory.Type = SystemProviderFactory.self

    /// The flow that signs the user in.
    nonisolated public let signInFlow: AuthorizationCodeFlow

    /// The flow that signs the user out, or `nil` if the settings have no logout redirect URI.
    nonisolated public let signOutFlow: SessionLogoutFlow?

    /// Options for all later calls.
    public var options: Option = []

    /// Whether ``options`` contains ``Option/ephemeralSession``.
    public var ephemeralSession: Bool {
        get { options.contains(.ephemeralSession) }
        set {
            if newValue { options.insert(.ephemeralSession) } else { options.remove(.ephemeralSession) }
        }
    }

    let makeProvider: ProviderSource
    /// Whether the last sign-in used a browser session that stored nothing.
    var wasLastSignInEphemeral = false
    private var attempt: Attempt?

    /// Creates an instance with the settings of `Okta.plist`.
    /// - Throws: `OAuth2Client.PropertyListConfigurationError` if the settings cannot be read; `OAuth2Error.redirectUriRequired` if they
    ///   have no redirect URI.
    public convenience init() throws {
        try self.init(OAuth2Client.PropertyListConfiguration())
    }

    /// Creates an instance with the settings of a property list file.
    /// - Throws: `OAuth2Client.PropertyListConfigurationError` if the settings cannot be read; `OAuth2Error.redirectUriRequired` if they
    ///   have no redirect URI.
    public convenience init(plist fileURL: URL) throws {
        try self.init(OAuth2Client.PropertyListConfiguration(plist: fileURL))
    }

    private convenience init(_ config: OAuth2Client.PropertyListConfiguration) throws {
        try self.init(OAuth2Client(config), config.additionalParameters)
    }

    /// Creates an instance with the given settings.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client identifier registered with the issuer.
    ///   - scope: The requested scopes.
    ///   - redirectUri: The registered URI to which the browser returns after a sign-in.
    ///   - logoutRedirectUri: The registered URI to which the browser returns after a sign-out. If `nil`, sign-out is not available.
    ///   - additionalParameters: Extra parameters for every sign-in and sign-out.
    public convenience init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        let loginFlow = AuthorizationCodeFlow(
            issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri,
            additionalParameters: additionalParameters)
        self.init(loginFlow: loginFlow, logoutFlow: Self.logoutFlow(loginFlow.client, additionalParameters))
    }

    /// Creates an instance with the given settings.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client identifier registered with the issuer.
    ///   - scope: The requested scopes.
    ///   - redirectUri: The registered URI to which the browser returns after a sign-in.
    ///   - logoutRedirectUri: The registered URI to which the browser returns after a sign-out. If `nil`, sign-out is not available.
    ///   - additionalParameters: Extra parameters for every sign-in and sign-out.
    public convenience init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            issuerURL: issuerURL, clientId: clientId, scope: ClaimCollection(wrappedValue: scope.whitespaceSeparated),
            redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri, additionalParameters: additionalParameters)
    }

    /// Creates an instance with existing flows. If `logoutFlow` is `nil`, sign-out is not available.
    public convenience init(loginFlow: AuthorizationCodeFlow, logoutFlow: SessionLogoutFlow?) {
        self.init(loginFlow: loginFlow, logoutFlow: logoutFlow) { browserSignin, window, options in
            let factory = await BrowserSignin.providerFactory
            return try await factory.createWebAuthenticationProvider(for: browserSignin, from: window, options: options)
        }
    }

    /// Creates an instance with existing flows and its own source of browser sessions, which replaces ``providerFactory`` for this
    /// instance. For tests, and for apps that show the browser in their own way.
    /// - Parameters:
    ///   - loginFlow: The flow that signs the user in.
    ///   - logoutFlow: The flow that signs the user out. If it is `nil`, sign-out is not available.
    ///   - makeProvider: Creates the browser session of each sign-in or sign-out.
    public init(loginFlow: AuthorizationCodeFlow, logoutFlow: SessionLogoutFlow?, makeProvider: @escaping ProviderSource) {
        SDKVersion.register(.browserSignin, version: SDKVersion.current)
        signInFlow = loginFlow
        signOutFlow = logoutFlow
        self.makeProvider = makeProvider
        Self.sharedInstance = self
    }

    private convenience init(_ client: OAuth2Client, _ additionalParameters: [String: any APIRequestArgument]?) throws {
        self.init(
            loginFlow: try AuthorizationCodeFlow(client: client, additionalParameters: additionalParameters),
            logoutFlow: Self.logoutFlow(client, additionalParameters))
    }

    private static func logoutFlow(
        _ client: OAuth2Client, _ additionalParameters: [String: any APIRequestArgument]?
    ) -> SessionLogoutFlow? {
        guard client.configuration.logoutRedirectUri != nil else { return nil }
        return SessionLogoutFlow(client: client, additionalParameters: additionalParameters)
    }

    /// Cancels the current sign-in or sign-out. No-op if there is none. Requests the close of the browser session before it returns.
    public func cancel() async {
        guard let attempt else { return }
        self.attempt = nil
        await attempt.giveUp()
    }

    /// Runs `body` with a new browser session after cancelling the previous sign-in or sign-out.
    /// - Parameters:
    ///   - reset: Resets the flow after a failure or cancellation.
    ///   - late: Receives the result of `body` if the attempt was cancelled before `body` returned.
    /// - Throws: The error of `body`, or `BrowserSigninError.userCancelledLogin` if the attempt was cancelled.
    func attempt<Value: Sendable>(
        from window: WindowAnchor?, reset: @escaping @Sendable () async -> Void, late: (Value) -> Void = { _ in },
        _ body: @MainActor (any Provider) async throws -> Value
    ) async throws -> Value {
        let attempt = Attempt(reset: reset)
        let previous = self.attempt
        self.attempt = attempt
        await previous?.giveUp(for: "Another sign-in or sign-out was begun.")
        do {
            try attempt.check()
            let provider = try await makeProvider(self, window, options)
            try attempt.take(provider)
            let value = try await body(provider)
            if let reason = attempt.reason {
                late(value)
                throw reason
            }
            if self.attempt === attempt { self.attempt = nil }
            return value
        } catch {
            if self.attempt === attempt {
                self.attempt = nil
                await attempt.end()
            }
            throw attempt.reason ?? error
        }
    }
}

/// The current sign-in or sign-out.
@MainActor
private final class Attempt {
    private(set) var reason: BrowserSigninError?
    private var provider: (any BrowserSignin.Provider)?
    private let reset: @Sendable () async -> Void

    init(reset: @escaping @Sendable () async -> Void) {
        self.reset = reset
    }

    func take(_ provider: any BrowserSignin.Provider) throws {
        self.provider = provider
        do { try check() } catch {
            provider.cancel()
            throw error
        }
    }

    /// Throws the reason if the attempt was cancelled, or `CancellationError` if the task was cancelled.
    func check() throws {
        if let reason { throw reason }
        try Task.checkCancellation()
    }

    func giveUp(for text: String? = nil) async {
        reason = .userCancelledLogin(text)
        await end()
    }

    /// Closes the browser session and resets the flow without setting a reason. Used after failures.
    func end() async {
        provider?.cancel()
        await reset()
    }
}

/// The name of ``BrowserSignin`` in version 1 of the SDK.
@available(*, deprecated, renamed: "BrowserSignin", message: "It is removed in version 2.")
public typealias WebAuthentication = BrowserSignin

/// The name of ``BrowserSigninError`` in version 1 of the SDK.
@available(*, deprecated, renamed: "BrowserSigninError", message: "It is removed in version 2.")
public typealias WebAuthenticationError = BrowserSigninError

extension BrowserSignin {
    /// Creates an instance with the parameter names of version 1 of the SDK.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:redirectUri:). It is removed in version 2.")
    public convenience init(
        issuer: URL, clientId: String, scopes: String, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: String]? = nil
    ) {
        self.init(
            issuerURL: issuer, clientId: clientId, scope: scopes, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri,
            additionalParameters: additionalParameters)
    }
}
