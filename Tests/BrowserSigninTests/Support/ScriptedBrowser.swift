import AuthFoundation
import Foundation
import OAuth2Auth
import TestSupport

@testable import BrowserSignin

/// A browser session that a test controls.
final class ScriptedBrowser: BrowserSignin.Provider {
    typealias Act = @Sendable (_ page: URL, _ redirectUri: URL) async throws -> URL

    private struct State {
        var pages: [URL] = []
        var isClosed = false
        var session: Decision<URL>?
    }

    private let act: Act
    private let state = Locked(State())
    private let opened = Decision<Void>()

    init(_ act: @escaping Act) {
        self.act = act
    }

    /// Returns a browser in which the user completes the issuer's pages.
    static func signingIn(at issuer: BrowserIssuer) -> ScriptedBrowser {
        ScriptedBrowser { page, _ in page.path().hasSuffix("/logout") ? try issuer.visitLogout(page) : try issuer.visit(page) }
    }

    /// Returns a browser that does nothing until it is closed.
    static func idle() -> ScriptedBrowser {
        let forever = Decision<URL>()
        return ScriptedBrowser { _, _ in try await forever.value() }
    }

    /// The opened pages.
    var pages: [URL] { state.withLock { $0.pages } }

    /// Whether the flow has closed the browser session.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Waits until the browser has opened a page.
    func page() async throws { try await opened.value() }

    func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL {
        let session = Decision<URL>()
        state.withLock { state in
            state.pages.append(authorizeUrl)
            state.session = session
        }
        opened.decide(.success(()))
        Task { [act] in
            let result: Result<URL, any Error>
            do { result = .success(try await act(authorizeUrl, redirectUri)) } catch { result = .failure(error) }
            session.decide(result)
        }
        return try await session.value()
    }

    func cancel() {
        let session = state.withLock { state in
            state.isClosed = true
            return state.session
        }
        session?.decide(.failure(BrowserSigninError.userCancelledLogin()))
    }
}

/// A system sheet that a test controls. It reports whether it keeps a session.
final class ScriptedSheet: BrowserSignin.ForgettingProvider {
    private let browser: ScriptedBrowser
    let isEphemeral: Bool

    init(_ browser: ScriptedBrowser, isEphemeral: Bool) {
        self.browser = browser
        self.isEphemeral = isEphemeral
    }

    func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL {
        try await browser.open(authorizeUrl: authorizeUrl, redirectUri: redirectUri)
    }

    func cancel() { browser.cancel() }
}

/// An external browser that a test controls. The provider listens for its redirect, and cannot close the browser.
final class ScriptedListeningBrowser: BrowserSignin.ListeningProvider {
    private let browser: ScriptedBrowser
    private let state = Locked<(@Sendable (URL) -> Bool)?>(nil)

    init(_ browser: ScriptedBrowser) {
        self.browser = browser
    }

    var pages: [URL] { browser.pages }
    var isClosed: Bool { browser.isClosed }

    func isAnswer(_ url: URL) -> Bool { state.withLock { $0 }?(url) ?? false }

    func listen(for redirectUri: URL, isAnswer: @escaping @Sendable (URL) -> Bool) async throws -> URL {
        state.withLock { $0 = isAnswer }
        return try url("http://127.0.0.1:4711\(redirectUri.path())")
    }

    func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL {
        try await browser.open(authorizeUrl: authorizeUrl, redirectUri: redirectUri)
    }

    func cancel() { browser.cancel() }
}

extension BrowserSignin {
    /// Creates a flow with a browser that a test controls.
    convenience init(_ client: OAuth2Client, in provider: any Provider) throws {
        self.init(
            loginFlow: try AuthorizationCodeFlow(client: client),
            logoutFlow: client.configuration.logoutRedirectUri == nil ? nil : SessionLogoutFlow(client: client)
        ) { _, _, _ in provider }
    }
}
