import AuthFoundation
import Foundation
import JOSE
import OAuth2Auth
import Testing

@testable import BrowserSignin

@Suite("A sign-out in the browser")
@MainActor
struct SignOutTests {
    @Test("names the session by the ID token, and tells where the browser was sent")
    func withToken() async throws {
        let issuer = ScriptedIssuer()
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let token = try await Self.token(of: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        let redirect = try await signin.signOut(token: token)
        let asked = query(browser.pages.first)
        #expect(asked["id_token_hint"] == token.idToken?.rawValue && asked["post_logout_redirect_uri"] == "com.example.app:/")
        #expect(redirect.scheme == "com.example.app" && query(redirect)["state"] == asked["state"])
        #expect(issuer.requests("/revoke").isEmpty && signin.signOutFlow?.context == nil)
    }

    @Test("leaves the session to the browser without tokens")
    func withoutToken() async throws {
        let issuer = ScriptedIssuer()
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        try await signin.signOut(token: nil)
        try await signin.signOut(credential: nil)
        try await signin.signOut(from: nil)
        #expect(browser.pages.count == 3)
        for page in browser.pages { #expect(query(page)["id_token_hint"] == nil && query(page)["client_id"] == "app") }
    }

    @Test("needs a logout redirect URI")
    func withoutRedirect() async throws {
        let issuer = ScriptedIssuer()
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try BrowserSignin(issuer.client(logoutRedirectUri: nil), in: browser)
        await #expect(throws: BrowserSigninError.noSignOutFlowProvided) { try await signin.signOut(from: nil) }
        #expect(browser.pages.isEmpty && issuer.requests("").isEmpty)
    }

    @Test("refuses another sign-out's redirect")
    func wrongState() async throws {
        let issuer = ScriptedIssuer(.init(redirect: ["state": "other"]))
        let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
        let error = await #expect(throws: OAuth2Error.self) { try await signin.signOut(from: nil) }
        #expect({ if case .redirectUri(_, reason: .state("other")) = error { true } else { false } }())
        #expect(signin.signOutFlow?.context == nil)
    }

    @Test("calls back", arguments: [true, false])
    func completion(hasToken: Bool) async throws {
        let issuer = ScriptedIssuer()
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let token = try await Self.token(of: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        let result = await withCheckedContinuation { continuation in
            if hasToken {
                signin.signOut(from: nil, token: token) { continuation.resume(returning: $0) }
            } else {
                signin.signOut(from: nil, credential: nil) { continuation.resume(returning: $0) }
            }
        }
        #expect(try result.get().scheme == "com.example.app")
        #expect(query(browser.pages.first)["id_token_hint"] == (hasToken ? token.idToken?.rawValue : nil))
    }

    // MARK: After ephemeral sessions

    /// One that has signed in with a sheet.
    private func signedIn(_ issuer: ScriptedIssuer, _ browser: ScriptedBrowser, isEphemeral: Bool = true) async throws -> BrowserSignin {
        let signin = try BrowserSignin(issuer.client(), in: ScriptedSheet(browser, isEphemeral: isEphemeral))
        _ = try await signin.signIn()
        return signin
    }

    @Test("shows no browser after an ephemeral sign-in, whatever the options are by then: the server alone is told")
    func ephemeral() async throws {
        let issuer = ScriptedIssuer(.init(logout: (302, "com.example.app:/?state=STATE")))
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try await signedIn(issuer, browser)
        let redirect = try await signin.signOut(from: nil, context: .init(idToken: "a.b.c", state: "s1"))
        #expect(redirect.absoluteString == "com.example.app:/?state=s1" && browser.pages.count == 1)
        let told = query(issuer.pages("/logout").first)
        #expect(told["id_token_hint"] == "a.b.c" && signin.signOutFlow?.context == nil)
    }

    @Test("shows the browser that has the session, although the options have become ephemeral since")
    func shared() async throws {
        let issuer = ScriptedIssuer(.init(logout: (302, "com.example.app:/?state=STATE")))
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try await signedIn(issuer, browser, isEphemeral: false)
        signin.ephemeralSession = true
        try await signin.signOut(from: nil)
        #expect(browser.pages.count == 2 && issuer.pages("/logout").isEmpty)
    }

    @Test("shows a browser of the app's own, of which nobody knows what is left", arguments: [true, false])
    func custom(hasSignedIn: Bool) async throws {
        let issuer = ScriptedIssuer(.init(logout: (302, "com.example.app:/?state=STATE")))
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        signin.ephemeralSession = true
        if hasSignedIn { _ = try await signin.signIn() }
        try await signin.signOut(from: nil)
        #expect(browser.pages.count == (hasSignedIn ? 2 : 1) && issuer.pages("/logout").isEmpty)
    }

    @Test("is not done when the server would ask a person, and no browser is shown")
    func ephemeralQuestion() async throws {
        let issuer = ScriptedIssuer(.init(logout: (200, nil)))
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try await signedIn(issuer, browser)
        await #expect(throws: OAuth2Error.missingLocationHeader) { try await signin.signOut(from: nil) }
        #expect(browser.pages.count == 1 && signin.signOutFlow?.context == nil)
    }

    @Test("tells of the server's refusal after an ephemeral session")
    func ephemeralRefusal() async throws {
        let issuer = ScriptedIssuer(.init(logout: (400, nil)))
        let signin = try await signedIn(issuer, .signingIn(at: issuer))
        await #expect(throws: APIClientError.self) { try await signin.signOut(from: nil) }
        #expect(signin.signOutFlow?.context == nil)
    }

    @Test("shows the person's own browser all the same, because it has the session")
    func ephemeralListening() async throws {
        let issuer = ScriptedIssuer()
        let browser = ScriptedListeningBrowser(.signingIn(at: issuer))
        let signin = try BrowserSignin(issuer.client(logoutRedirectUri: "http://127.0.0.1/bye"), in: browser)
        signin.ephemeralSession = true
        let redirect = try await signin.signOut(from: nil)
        #expect(redirect.absoluteString.hasPrefix("http://127.0.0.1:4711/bye?"))
        #expect(query(browser.pages.first)["post_logout_redirect_uri"] == "http://127.0.0.1:4711/bye")
    }

    // MARK: With the tokens

    @Test("ends the session and then the tokens, and tells of both")
    func all() async throws {
        let issuer = ScriptedIssuer()
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer, clock: issuer.clock) {
            let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
            let credential = try Credential.store(try await signin.signIn())
            let report = await signin.signOut(credential: credential, ending: .all)
            #expect(report.session.isDone && report.tokens.isDone && report.failure == nil)
            #expect(issuer.requests("/revoke").count == 2 && Credential.default == nil)
        }
    }

    @Test("ends the tokens even if the session can't be")
    func sessionFails() async throws {
        let issuer = ScriptedIssuer(.init(metadata: ["end_session_endpoint": .null]))
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer, clock: issuer.clock) {
            let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
            let credential = try Credential.store(try await signin.signIn())
            let report = await signin.signOut(credential: credential, ending: .all)
            #expect(!report.session.isDone && report.tokens.isDone && report.failure is OAuth2Error)
            #expect(issuer.requests("/revoke").count == 2 && Credential.default == nil)
        }
    }

    @Test("removes the tokens here even if the server does not revoke them, and tells so")
    func tokensFail() async throws {
        let issuer = ScriptedIssuer(.init(statuses: ["/revoke": 400]))
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer, clock: issuer.clock) {
            let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
            let credential = try Credential.store(try await signin.signIn())
            let report = await signin.signOut(credential: credential, ending: [.tokens])
            #expect(!report.session.isDone && !report.tokens.isDone && report.failure != nil)
            #expect(Credential.default == nil)
        }
    }

    @Test("keeps all when the person closes the browser")
    func closed() async throws {
        let issuer = ScriptedIssuer()
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer, clock: issuer.clock) {
            let token = try await Self.token(of: issuer)
            let credential = try Credential.store(token)
            let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser { _, _ in throw BrowserSigninError.userCancelledLogin() })
            let report = await signin.signOut(credential: credential, ending: .all)
            #expect(report.failure as? BrowserSigninError == .userCancelledLogin())
            #expect({ if case .skipped = report.tokens { true } else { false } }())
            #expect(issuer.requests("/revoke").isEmpty && Credential.default == credential)
        }
    }

    private static func token(of issuer: ScriptedIssuer) async throws -> Token {
        try await BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer)).signIn()
    }
}
