import AuthFoundation
import Foundation
import JOSE
import OAuth2Auth
import TestSupport
import Testing

@testable import BrowserSignin

@Suite("Sign-in in the browser")
@MainActor
struct SignInTests {
    @Test("A browser sign-in opens the authorization page and returns the tokens for the code of the redirect")
    func success() async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        let token = try await signin.signIn()
        #expect(token.accessToken == "access-1" && token.idToken?.subject == "00u1")
        let page = try #require(browser.pages.first)
        #expect(page.absoluteString.hasPrefix("\(ScriptedIssuer.base)/v1/authorize?") && browser.pages.count == 1)
        #expect(query(page)["redirect_uri"] == "com.example.app:/callback")
        #expect(query(page)["prompt"] == nil && query(page)["code_challenge_method"] == "S256")
        let form = try #require(issuer.forms("/token").first)
        #expect(form["code"] == "code-1" && form["redirect_uri"] == "com.example.app:/callback" && form["code_verifier"]?.isEmpty == false)
        #expect(!signin.signInFlow.isAuthenticating)
    }

    @Test("A browser sign-in sends the parameters of its context in the authorization request")
    func context() async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        _ = try await signin.signIn(
            from: nil, context: .init(acrValues: ["phr"], additionalParameters: ["login_hint": "jane", "brand": "b"]))
        let asked = query(browser.pages.first)
        #expect(asked["acr_values"] == "phr" && asked["login_hint"] == "jane" && asked["brand"] == "b")
    }

    struct Forgery: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answers: BrowserIssuer.Answers
        var isExpected: @Sendable (any Error) -> Bool
    }

    nonisolated static let forgeries = [
        Forgery(testDescription: "another sign-in's state", answers: .init(redirect: ["state": "other"])) {
            if case .redirectUri(_, reason: .state("other")) = $0 as? OAuth2Error { true } else { false }
        },
        Forgery(testDescription: "no state", answers: .init(redirect: ["state": nil])) {
            if case .redirectUri(_, reason: .state(nil)) = $0 as? OAuth2Error { true } else { false }
        },
        Forgery(testDescription: "another server's redirect", answers: .init(redirect: ["iss": "https://evil.example.com"])) {
            ($0 as? AuthorizationIssuerError)?.found == "https://evil.example.com"
        },
        Forgery(testDescription: "a redirect that does not say from whom", answers: .init(redirect: ["iss": nil])) {
            ($0 as? AuthorizationIssuerError)?.found == nil && $0 is AuthorizationIssuerError
        },
        Forgery(testDescription: "another sign-in's ID token", answers: .init(claims: ["nonce": "other"])) {
            ($0 as? JWTError) == .nonceMismatch
        },
        Forgery(testDescription: "another app's ID token", answers: .init(claims: ["aud": "other"])) {
            ($0 as? JWTError) == .invalidAudience
        },
        Forgery(
            testDescription: "an error with another sign-in's state",
            answers: .init(redirect: ["error": "access_denied", "state": "other"])
        ) {
            if case .redirectUri(_, reason: .state) = $0 as? OAuth2Error { true } else { false }
        },
    ]

    @Test(
        "A browser sign-in rejects a redirect with a wrong state or issuer, and an ID token with a wrong nonce or audience",
        arguments: forgeries)
    func refused(forgery: Forgery) async throws {
        let issuer = BrowserIssuer(forgery.answers)
        let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
        let error = await #expect(throws: (any Error).self) { try await signin.signIn() }
        #expect(error.map(forgery.isExpected) == true, "\(String(describing: error))")
        #expect(!signin.signInFlow.isAuthenticating)
        if forgery.answers.claims.isEmpty { #expect(issuer.pages("/token").isEmpty) }
    }

    @Test(
        "A browser sign-in throws the error that the server sends in the redirect",
        arguments: ["access_denied", "login_required", "server_error"])
    func serverError(code: String) async throws {
        let issuer = BrowserIssuer(.init(redirect: ["code": nil, "error": code, "error_description": "Said the server."]))
        let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
        let error = await #expect(throws: OAuth2ServerError.self) { try await signin.signIn() }
        #expect(error?.code == OAuth2ServerError.Code(rawValue: code) && error?.description == "Said the server.")
        #expect(!signin.signInFlow.isAuthenticating && issuer.pages("/token").isEmpty)
    }

    @Test("A browser sign-in rejects the redirect of an earlier sign-in")
    func stale() async throws {
        let issuer = BrowserIssuer()
        let kept = Locked<URL?>(nil)
        let client = try issuer.client()
        let signin = BrowserSignin(loginFlow: try AuthorizationCodeFlow(client: client), logoutFlow: nil) { _, _, _ in
            ScriptedBrowser { page, _ in
                if let kept = kept.withLock({ $0 }) { return kept }
                let redirect = try issuer.visit(page)
                kept.withLock { $0 = redirect }
                return redirect
            }
        }
        _ = try await signin.signIn()
        let error = await #expect(throws: OAuth2Error.self) { try await signin.signIn() }
        #expect({ if case .redirectUri(_, reason: .state) = error { true } else { false } }())
        #expect(issuer.pages("/token").count == 1)
    }

    @Test("If the user closes the browser, the sign-in ends with userCancelledLogin")
    func closed() async throws {
        let issuer = BrowserIssuer()
        let signin = try BrowserSignin(
            issuer.client(), in: ScriptedBrowser { _, _ in throw BrowserSigninError.userCancelledLogin("Closed.") })
        await #expect(throws: BrowserSigninError.userCancelledLogin("Closed.")) { try await signin.signIn() }
        #expect(!signin.signInFlow.isAuthenticating)
    }

    @Test("If the browser provider throws an error, the sign-in throws authenticationProvider with that error")
    func browserError() async throws {
        let issuer = BrowserIssuer()
        let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser { _, _ in throw URLError(.cannotConnectToHost) })
        await #expect(throws: BrowserSigninError.authenticationProvider(error: URLError(.cannotConnectToHost))) {
            try await signin.signIn()
        }
    }

    @Test("If the discovery document cannot be fetched, a sign-in opens no browser")
    func unreachable() async throws {
        let issuer = BrowserIssuer(.init(statuses: ["openid-configuration": 404]))
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        await #expect(throws: APIClientError.self) { try await signin.signIn() }
        #expect(browser.pages.isEmpty && browser.isClosed && !signin.signInFlow.isAuthenticating)
    }

    // MARK: Giving up

    @Test("Cancelling the task of a browser sign-in closes the browser and ends the sign-in immediately")
    func cancelledTask() async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedBrowser.idle()
        let signin = try BrowserSignin(issuer.client(), in: browser)
        let call = Task { try await signin.signIn() }
        try await browser.page()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(browser.isClosed && !signin.signInFlow.isAuthenticating)
    }

    @Test("If the app cancels a browser sign-in, the browser is closed, and the sign-in ends with userCancelledLogin")
    func cancelled() async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedBrowser.idle()
        let signin = try BrowserSignin(issuer.client(), in: browser)
        let call = Task { try await signin.signIn() }
        try await browser.page()
        await signin.cancel()
        #expect(browser.isClosed && !signin.signInFlow.isAuthenticating)
        await #expect(throws: BrowserSigninError.userCancelledLogin()) { try await call.value }
        await signin.cancel()
    }

    @Test("If tokens arrive after the app cancels a browser sign-in, the tokens are revoked", .timeLimit(.minutes(1)))
    func regret() async throws {
        let (asked, gate) = (Gate(), Gate())
        let issuer = BrowserIssuer(
            .init(tokenPause: {
                asked.open()
                await gate.wait()
            }))
        let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
        let call = Task { try await signin.signIn() }
        await asked.wait()
        await signin.cancel()
        await #expect(throws: BrowserSigninError.userCancelledLogin()) { try await call.value }
        gate.open()
        var count = 0
        for await _ in issuer.revocations.prefix(2) { count += 1 }
        #expect(count == 2 && Set(issuer.forms("/revoke").map { $0["token"] }) == ["access-1", "refresh-1"])
    }

    @Test("Starting a second browser sign-in cancels the first sign-in")
    func superseded() async throws {
        let issuer = BrowserIssuer()
        let first = ScriptedBrowser.idle()
        let browsers = Locked([ScriptedBrowser.signingIn(at: issuer), first])
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        let signin = BrowserSignin(loginFlow: flow, logoutFlow: nil) { _, _, _ in try #require(browsers.withLock { $0.popLast() }) }
        let call = Task { try await signin.signIn() }
        try await first.page()
        let token = try await signin.signIn()
        #expect(token.accessToken == "access-1" && first.isClosed)
        let error = await #expect(throws: BrowserSigninError.self) { try await call.value }
        #expect(error == .userCancelledLogin("Another sign-in or sign-out was begun."))
    }

    @Test("A sign-out cancels the browser sign-in that is in progress")
    func supersededBySignOut() async throws {
        let issuer = BrowserIssuer()
        let first = ScriptedBrowser.idle()
        let browsers = Locked([ScriptedBrowser.signingIn(at: issuer), first])
        let client = try issuer.client()
        let signin = BrowserSignin(loginFlow: try AuthorizationCodeFlow(client: client), logoutFlow: SessionLogoutFlow(client: client)) {
            _, _, _ in try #require(browsers.withLock { $0.popLast() })
        }
        let call = Task { try await signin.signIn() }
        try await first.page()
        try await signin.signOut(from: nil)
        await #expect(throws: BrowserSigninError.self) { try await call.value }
        #expect(first.isClosed && !signin.signInFlow.isAuthenticating)
    }

    // MARK: Forms of the call

    @Test("The completion handler of a browser sign-in is called with the tokens, on the main actor")
    func completion() async throws {
        let issuer = BrowserIssuer()
        let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
        let result = await withCheckedContinuation { continuation in
            signin.signIn(from: nil) { result in
                MainActor.assertIsolated()
                continuation.resume(returning: result)
            }
        }
        #expect(try result.get().accessToken == "access-1")
    }

    @Test("The completion handler of a browser sign-in receives the server's error")
    func completionError() async throws {
        let issuer = BrowserIssuer(.init(redirect: ["code": nil, "error": "access_denied"]))
        let signin = try BrowserSignin(issuer.client(), in: ScriptedBrowser.signingIn(at: issuer))
        let result = await withCheckedContinuation { continuation in
            signin.signIn(from: nil) { continuation.resume(returning: $0) }
        }
        #expect(throws: BrowserSigninError.serverError(OAuth2ServerError(code: "access_denied", description: nil))) { try result.get() }
    }
}
