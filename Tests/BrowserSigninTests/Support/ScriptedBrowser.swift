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

    /// A browser in which the user completes the issuer's pages.
    static func signingIn(at issuer: BrowserIssuer) -> ScriptedBrowser {
        ScriptedBrowser { page, _ in page.path().hasSuffix("/logout") ? try issuer.visitLogout(page) : try issuer.visit(page) }
    }

    /// A browser that does nothing until it is closed.
    static func idle() -> ScriptedBrowser {
        let forever = Decision<URL>()
        return ScriptedBrowser { _, _ in try await forever.value() }
    }

    /// The opened pages.
    var pages: [URL] { state.withLock { $0.pages } }

    /// Whether the session was told to close.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Waits until a page is open.
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

/// The same for a system sheet, which reports whether it keeps a session.
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

/// The same for an external browser that the provider cannot close. It listens at a port that the test chose.
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
    /// A flow whose browser a test controls.
    convenience init(_ client: OAuth2Client, in provider: any Provider) throws {
        self.init(
            loginFlow: try AuthorizationCodeFlow(client: client),
            logoutFlow: client.configuration.logoutRedirectUri == nil ? nil : SessionLogoutFlow(client: client)
        ) { _, _, _ in provider }
    }
}
