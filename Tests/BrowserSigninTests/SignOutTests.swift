import AuthFoundation
import Foundation
import JOSE
import OAuth2Auth
import Testing

@testable import BrowserSignin

@Suite("Sign-out in the browser")
@MainActor
struct SignOutTests {
    @Test("A browser sign-out sends the ID token to the server and returns the redirect URL")
    func withToken() async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let token = try await Self.token(of: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        let redirect = try await signin.signOut(token: token)
        let asked = query(browser.pages.first)
        #expect(asked["id_token_hint"] == token.idToken?.rawValue && asked["post_logout_redirect_uri"] == "com.example.app:/")
        #expect(redirect.scheme == "com.example.app" && query(redirect)["state"] == asked["state"])
        #expect(issuer.pages("/revoke").isEmpty && signin.signOutFlow?.context == nil)
    }

    @Test("A browser sign-out without a token sends the client ID, but no ID token")
    func withoutToken() async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        try await signin.signOut(token: nil)
        try await signin.signOut(credential: nil)
        try await signin.signOut(from: nil)
        #expect(browser.pages.count == 3)
        for page in browser.pages { #expect(query(page)["id_token_hint"] == nil && query(page)["client_id"] == "app") }
    }

    @Test("If no logout redirect URI is configured, a sign-out fails and opens no browser")
    func withoutRedirect() async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try BrowserSignin(issuer.client(logoutRedirectUri: nil), in: browser)
        await #expect(throws: BrowserSigninError.noSignOutFlowProvided) { try await signin.signOut(from: nil) }
        #expect(browser.pages.isEmpty && issuer.pages("").isEmpty)
    }

    @Test("A browser sign-out rejects a redirect with a wrong state")
    func wrongState() async throws {
        let issuer = BrowserIssuer(.init(redirect: ["state": "other"]))
        let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
        let error = await #expect(throws: OAuth2Error.self) { try await signin.signOut(from: nil) }
        #expect({ if case .redirectUri(_, reason: .state("other")) = error { true } else { false } }())
        #expect(signin.signOutFlow?.context == nil)
    }

    @Test("The completion handler of a browser sign-out receives the redirect URL", arguments: [true, false])
    func completion(hasToken: Bool) async throws {
        let issuer = BrowserIssuer()
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

    /// Returns a flow that has signed in with a system sheet.
    private func signedIn(_ issuer: BrowserIssuer, _ browser: ScriptedBrowser, isEphemeral: Bool = true) async throws -> BrowserSignin {
        let signin = try BrowserSignin(issuer.client(), in: ScriptedSheet(browser, isEphemeral: isEphemeral))
        _ = try await signin.signIn()
        return signin
    }

    @Test("After an ephemeral sign-in, a sign-out sends the logout request without a browser")
    func ephemeral() async throws {
        let issuer = BrowserIssuer(.init(logout: (302, "com.example.app:/?state=STATE")))
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try await signedIn(issuer, browser)
        let redirect = try await signin.signOut(from: nil, context: .init(idToken: "a.b.c", state: "s1"))
        #expect(redirect.absoluteString == "com.example.app:/?state=s1" && browser.pages.count == 1)
        let told = query(issuer.pages("/logout").first)
        #expect(told["id_token_hint"] == "a.b.c" && signin.signOutFlow?.context == nil)
    }

    @Test("After a sign-in with a shared session, a sign-out shows the browser, even if the app selects ephemeral sessions afterwards")
    func shared() async throws {
        let issuer = BrowserIssuer(.init(logout: (302, "com.example.app:/?state=STATE")))
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try await signedIn(issuer, browser, isEphemeral: false)
        signin.ephemeralSession = true
        try await signin.signOut(from: nil)
        #expect(browser.pages.count == 2 && issuer.pages("/logout").isEmpty)
    }

    @Test("A sign-out shows the browser of the app's own provider source, even for an ephemeral session", arguments: [true, false])
    func custom(hasSignedIn: Bool) async throws {
        let issuer = BrowserIssuer(.init(logout: (302, "com.example.app:/?state=STATE")))
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        signin.ephemeralSession = true
        if hasSignedIn { _ = try await signin.signIn() }
        try await signin.signOut(from: nil)
        #expect(browser.pages.count == (hasSignedIn ? 2 : 1) && issuer.pages("/logout").isEmpty)
    }

    @Test("After an ephemeral sign-in, a sign-out fails if the server responds with a page")
    func ephemeralQuestion() async throws {
        let issuer = BrowserIssuer(.init(logout: (200, nil)))
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try await signedIn(issuer, browser)
        await #expect(throws: OAuth2Error.missingLocationHeader) { try await signin.signOut(from: nil) }
        #expect(browser.pages.count == 1 && signin.signOutFlow?.context == nil)
    }

    @Test("After an ephemeral sign-in, a sign-out that the server rejects throws the server's error")
    func ephemeralRefusal() async throws {
        let issuer = BrowserIssuer(.init(logout: (400, nil)))
        let signin = try await signedIn(issuer, .signingIn(at: issuer))
        await #expect(throws: APIClientError.self) { try await signin.signOut(from: nil) }
        #expect(signin.signOutFlow?.context == nil)
    }

    @Test("A sign-out with a loopback redirect shows the user's own browser, even for an ephemeral session")
    func ephemeralListening() async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedListeningBrowser(.signingIn(at: issuer))
        let signin = try BrowserSignin(issuer.client(logoutRedirectUri: "http://127.0.0.1/bye"), in: browser)
        signin.ephemeralSession = true
        let redirect = try await signin.signOut(from: nil)
        #expect(redirect.absoluteString.hasPrefix("http://127.0.0.1:4711/bye?"))
        #expect(query(browser.pages.first)["post_logout_redirect_uri"] == "http://127.0.0.1:4711/bye")
    }

    // MARK: With the tokens

    @Test("A sign-out with revocation ends the session, revokes the tokens and removes the credential")
    func all() async throws {
        let issuer = BrowserIssuer()
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer.server, clock: issuer.clock) {
            let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
            let credential = try Credential.store(try await signin.signIn())
            let report = await signin.signOut(credential: credential, ending: .all)
            #expect(report.session.isDone && report.tokens.isDone && report.failure == nil)
            #expect(issuer.pages("/revoke").count == 2 && Credential.default == nil)
        }
    }

    @Test("A sign-out with revocation revokes the tokens even if the session cannot be ended")
    func sessionFails() async throws {
        let issuer = BrowserIssuer(.init(metadata: ["end_session_endpoint": .null]))
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer.server, clock: issuer.clock) {
            let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
            let credential = try Credential.store(try await signin.signIn())
            let report = await signin.signOut(credential: credential, ending: .all)
            #expect(!report.session.isDone && report.tokens.isDone && report.failure is OAuth2Error)
            #expect(issuer.pages("/revoke").count == 2 && Credential.default == nil)
        }
    }

    @Test("A sign-out removes the local tokens even if the server does not revoke them, and reports the failed revocation")
    func tokensFail() async throws {
        let issuer = BrowserIssuer(.init(statuses: ["/revoke": 400]))
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer.server, clock: issuer.clock) {
            let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
            let credential = try Credential.store(try await signin.signIn())
            let report = await signin.signOut(credential: credential, ending: [.tokens])
            #expect(!report.session.isDone && !report.tokens.isDone && report.failure != nil)
            #expect(Credential.default == nil)
        }
    }

    @Test("If the user closes the browser during a sign-out, the tokens are neither revoked nor deleted")
    func closed() async throws {
        let issuer = BrowserIssuer()
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer.server, clock: issuer.clock) {
            let token = try await Self.token(of: issuer)
            let credential = try Credential.store(token)
            let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser { _, _ in throw BrowserSigninError.userCancelledLogin() })
            let report = await signin.signOut(credential: credential, ending: .all)
            #expect(report.failure as? BrowserSigninError == .userCancelledLogin())
            #expect({ if case .skipped = report.tokens { true } else { false } }())
            #expect(issuer.pages("/revoke").isEmpty && Credential.default == credential)
        }
    }

    @Test("If the credential is locked while the browser is open, a sign-out with revocation still revokes the tokens and removes it")
    func lockedMeanwhile() async throws {
        let issuer = BrowserIssuer()
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer.server, clock: issuer.clock) {
            let credential = try Credential.store(try await Self.token(of: issuer))
            let signin = try BrowserSignin(
                issuer.client(),
                in: ScriptedBrowser { page, _ in
                    credential.lock()
                    return try issuer.visitLogout(page)
                })
            let report = await signin.signOut(credential: credential, ending: .all)
            #expect(report.session.isDone && report.tokens.isDone && credential.isLocked)
            #expect(issuer.pages("/revoke").count == 2 && Credential.default == nil)
        }
    }

    @Test("A sign-out of a credential that is locked from the start leaves the credential stored and reports the lock")
    func lockedBefore() async throws {
        let issuer = BrowserIssuer()
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer.server, clock: issuer.clock) {
            let credential = try Credential.store(try await Self.token(of: issuer))
            let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
            credential.lock()
            let report = await signin.signOut(credential: credential, ending: .all)
            #expect(report.session.isDone && report.failure is CredentialLockedError)
            #expect(issuer.pages("/revoke").isEmpty && Credential.default == credential)
        }
    }

    private static func token(of issuer: BrowserIssuer) async throws -> Token {
        try await BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer)).signIn()
    }
}
