public import AuthFoundation
public import Foundation
public import OAuth2Auth

#if os(iOS) || os(tvOS) || os(visionOS)
public import UIKit
#elseif os(macOS)
public import AppKit
#endif

/// Signs a person in, and out, on the server's own pages in a browser (RFC 8252).
///
/// ```swift
/// let token = try await BrowserSignin.shared?.signIn()
/// if let token { try Credential.store(token) }
/// ```
///
/// One sign-in or sign-out is under way at a time: another one, and ``cancel()``, give it up, and its caller gets
/// ``BrowserSigninError/userCancelledLogin(_:)``. Cancelling the task of a call does the same at once, with `CancellationError`. All is done on
/// the main actor.
@MainActor
public final class BrowserSignin {
    #if os(iOS) || os(tvOS) || os(visionOS)
    /// Where a browser session is shown.
    public typealias WindowAnchor = UIWindow
    #elseif os(macOS)
    /// Where a browser session is shown.
    public typealias WindowAnchor = NSWindow
    #else
    /// Where a browser session is shown: nothing here.
    public typealias WindowAnchor = Void
    #endif

    /// How a browser is used.
    public struct Option: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: Int

        /// The browser shares nothing with other sign-ins: it begins without cookies, and keeps none.
        ///
        /// The system's own browser can't be made to do that from outside. There the server is told to ask for the credentials, whatever
        /// session it has (`prompt=login`).
        public static let ephemeralSession = Option(rawValue: 1 << 0)

        /// Makes options of bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    private static var sharedInstance: BrowserSignin?

    /// The one that was made last. Without any, the first use makes one with the settings of `Okta.plist`; nil if they can't be read, for
    /// which the log has the reason.
    public static var shared: BrowserSignin? {
        if let sharedInstance { return sharedInstance }
        do {
            return try BrowserSignin()
        } catch {
            ConfigurationLog.once("BrowserSignin.shared is nil: \(error.localizedDescription)")
            return nil
        }
    }

    /// What makes the browser sessions, from the next call on. The system's own at first.
    public static var providerFactory: any ProviderFactory.Type = SystemProviderFactory.self

    /// What signs in.
    nonisolated public let signInFlow: AuthorizationCodeFlow

    /// What signs out; nil if the settings have no logout redirect URI.
    nonisolated public let signOutFlow: SessionLogoutFlow?

    /// How the browser is used, from the next call on.
    public var options: Option = []

    /// Whether ``Option/ephemeralSession`` is among the ``options``.
    public var ephemeralSession: Bool {
        get { options.contains(.ephemeralSession) }
        set {
            if newValue { options.insert(.ephemeralSession) } else { options.remove(.ephemeralSession) }
        }
    }

    let makeProvider: ProviderSource
    /// Whether the browser session of the last sign-in was one that nothing is left of.
    var wasLastSignInEphemeral = false
    private var attempt: Attempt?

    /// Makes one with the settings of `Okta.plist`.
    ///
    /// - Throws: `OAuth2Client.PropertyListConfigurationError` if they can't be read; `OAuth2Error.redirectUriRequired` if they have no
    ///   redirect URI.
    public convenience init() throws {
        try self.init(OAuth2Client.PropertyListConfiguration())
    }

    /// Makes one with the settings of a property list.
    ///
    /// - Parameter fileURL: The file.
    /// - Throws: `OAuth2Client.PropertyListConfigurationError` if the settings can't be read; `OAuth2Error.redirectUriRequired` if they have
    ///   no redirect URI.
    public convenience init(plist fileURL: URL) throws {
        try self.init(OAuth2Client.PropertyListConfiguration(plist: fileURL))
    }

    private convenience init(_ config: OAuth2Client.PropertyListConfiguration) throws {
        try self.init(OAuth2Client(config), config.additionalParameters)
    }

    /// Makes one.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - redirectUri: Where the browser returns to, as the issuer knows it.
    ///   - logoutRedirectUri: Where the browser returns to after a sign-out; without it there is none.
    ///   - additionalParameters: Further parameters for every sign-in and sign-out.
    public convenience init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        let loginFlow = AuthorizationCodeFlow(
            issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri,
            additionalParameters: additionalParameters)
        self.init(loginFlow: loginFlow, logoutFlow: Self.logoutFlow(loginFlow.client, additionalParameters))
    }

    /// Makes one.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - redirectUri: Where the browser returns to, as the issuer knows it.
    ///   - logoutRedirectUri: Where the browser returns to after a sign-out; without it there is none.
    ///   - additionalParameters: Further parameters for every sign-in and sign-out.
    public convenience init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            issuerURL: issuerURL, clientId: clientId, scope: ClaimCollection(wrappedValue: scope.whitespaceSeparated),
            redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri, additionalParameters: additionalParameters)
    }

    /// Makes one of flows.
    ///
    /// - Parameters:
    ///   - loginFlow: What signs in.
    ///   - logoutFlow: What signs out; nil if there is no signing out.
    public convenience init(loginFlow: AuthorizationCodeFlow, logoutFlow: SessionLogoutFlow?) {
        self.init(loginFlow: loginFlow, logoutFlow: logoutFlow) { browserSignin, window, options in
            let factory = await BrowserSignin.providerFactory
            return try await factory.createWebAuthenticationProvider(for: browserSignin, from: window, options: options)
        }
    }

    /// Makes one of flows, with browser sessions of its own: what ``providerFactory`` is for all, this is for one. For tests, and for apps
    /// that show the browser in a way of theirs.
    ///
    /// - Parameters:
    ///   - loginFlow: What signs in.
    ///   - logoutFlow: What signs out; nil if there is no signing out.
    ///   - makeProvider: Makes the browser session of a sign-in or sign-out.
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

    // MARK: One at a time

    /// Gives up what is under way; nothing if there is nothing. When this returns, the browser session has been told to close.
    public func cancel() async {
        guard let attempt else { return }
        self.attempt = nil
        await attempt.giveUp()
    }

    /// Does something with a browser session, and gives up what was under way.
    ///
    /// - Parameters:
    ///   - window: Where the session is shown.
    ///   - reset: Gives the flow up.
    ///   - late: Is given what the body returned when all had been given up already.
    ///   - body: What to do.
    /// - Returns: What the body returned.
    /// - Throws: What the body threw; `BrowserSigninError.userCancelledLogin` if it has been given up.
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

/// A sign-in or sign-out under way.
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

    /// - Throws: The reason, if it has been given up.
    func check() throws {
        if let reason { throw reason }
        try Task.checkCancellation()
    }

    func giveUp(for text: String? = nil) async {
        reason = .userCancelledLogin(text)
        await end()
    }

    /// Ends it without a reason of its own: it has failed.
    func end() async {
        provider?.cancel()
        await reset()
    }
}

/// What ``BrowserSignin`` was called in version 1 of the SDK.
@available(*, deprecated, renamed: "BrowserSignin", message: "It is removed in version 2.")
public typealias WebAuthentication = BrowserSignin

/// What ``BrowserSigninError`` was called in version 1 of the SDK.
@available(*, deprecated, renamed: "BrowserSigninError", message: "It is removed in version 2.")
public typealias WebAuthenticationError = BrowserSigninError

extension BrowserSignin {
    /// Makes a sign-in with settings of the app's own, by the names that they had in version 1 of the SDK.
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
