import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OAuth2Auth

@Suite("Logout URL")
struct LogoutTests {
    private let issuer = ScriptedIssuer()

    private func flow(_ issuer: ScriptedIssuer? = nil, redirectUri: String? = "com.example.app:/") throws -> SessionLogoutFlow {
        SessionLogoutFlow(
            client: try (issuer ?? self.issuer).client(logoutRedirectUri: redirectUri),
            additionalParameters: ["brand": "b", "prompt": "login", "state": "flow"])
    }

    @Test("The logout URL has the ID token, the redirect URI and the parameters of the context")
    func withToken() async throws {
        let flow = try flow()
        let url = try await flow.start(with: .init(idToken: "a.b.c", logoutHint: "jane", additionalParameters: ["brand": "c"]))
        let context = try #require(flow.context)
        #expect(url.absoluteString.hasPrefix("\(ScriptedIssuer.base)/v1/logout?brand=c&client_id=app&id_token_hint=a.b.c&"))
        #expect(
            Form.query(url) == [
                "client_id": "app", "id_token_hint": "a.b.c", "logout_hint": "jane", "post_logout_redirect_uri": "com.example.app:/",
                "state": context.state, "brand": "c",
            ])
        #expect(await flow.inProgress && context.logoutURL == url)
    }

    @Test("A logout URL can be created without an ID token, and with or without a redirect URI", arguments: [nil, "com.example.app:/"])
    func withoutToken(redirectUri: String?) async throws {
        let url = try await flow(redirectUri: redirectUri).start(with: .init(state: "s"))
        var expected = ["client_id": "app", "state": "s", "brand": "b"]
        expected["post_logout_redirect_uri"] = redirectUri
        #expect(Form.query(url) == expected)
    }

    @Test("If the logout context has a prompt, the logout URL has no redirect URI", arguments: ["login", "consent", "login consent"])
    func prompt(words: String) async throws {
        let url = try await flow().start(with: .init(additionalParameters: ["prompt": words]))
        #expect(Form.query(url)["prompt"] == words && Form.query(url)["post_logout_redirect_uri"] == nil)
    }

    @Test("A logout context that is created from a token response contains the ID token of the response, if there is one")
    func ofTokens() async throws {
        let code = try AuthorizationCodeFlow(client: issuer.client(scope: "profile"))
        for hasIDToken in [false, true] {
            _ = try await code.start()
            let context = try #require(code.context)
            let nonce = context.nonce.map(JSONValue.string)
            let idToken: JSONValue? = hasIDToken ? try issuer.idToken(["nonce": nonce]) : nil
            issuer.answer("/v1/token", .tokens(idToken.map { ["id_token": $0] } ?? [:]))
            let token = try await code.resume(with: try url("com.example.app:/callback?code=c&state=\(context.state)"))
            let logout = SessionLogoutFlow.Context(token: token)
            #expect(logout.idToken == idToken?.stringValue)
            #expect(!"\(logout)".contains(idToken?.stringValue ?? logout.state))
        }
    }

    @Test("A sign-out ends only at a redirect to the app's redirect URI with the right state, and a second redirect is rejected")
    func redirect() async throws {
        let flow = try flow()
        _ = try await flow.start()
        let state = try #require(flow.context?.state)
        for (wrong, reason) in [
            ("com.other.app:/?state=\(state)", OAuth2Error.RedirectReason.scheme("com.other.app")),
            ("com.example.app:/x?state=\(state)", .hostOrPath), ("com.example.app:/?state=x", .state("x")),
            ("com.example.app:/", .state(nil)),
        ] {
            let error = await #expect(throws: OAuth2Error.self) { try await flow.resume(with: url(wrong)) }
            guard case .redirectUri(_, reason)? = error else { throw InvalidFixture() }
            #expect(await flow.inProgress)
        }
        try await flow.resume(with: url("com.example.app:/?state=\(state)"))
        #expect(await !flow.inProgress)
        await #expect(throws: OAuth2Error.invalidContext) { try await flow.resume(with: url("com.example.app:/?state=\(state)")) }
    }

    @Test("A sign-out redirect with an error throws the server's error")
    func refused() async throws {
        let flow = try flow()
        _ = try await flow.start(with: .init(state: "s"))
        let error = await #expect(throws: OAuth2ServerError.self) {
            try await flow.resume(with: url("com.example.app:/?state=s&error=invalid_request"))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test(
        "The logout URL is not created if the server's logout endpoint is not https",
        arguments: ["http://id.example.com/logout", "ftp://id.example.com/logout"])
    func insecure(endpoint: String) async throws {
        let flow = try flow(ScriptedIssuer(["end_session_endpoint": .string(endpoint)]))
        await #expect(throws: OAuth2Error.cannotComposeUrl) { try await flow.start(with: .init(idToken: "a.b.c")) }
    }

    @Test("A sign-out fails if the server has no logout endpoint")
    func notOffered() async throws {
        let flow = try flow(ScriptedIssuer(["end_session_endpoint": .null]))
        let watcher = LogoutWatcher()
        flow.add(delegate: watcher)
        await #expect(throws: OAuth2Error.missingOpenIdConfiguration(attribute: "end_session_endpoint")) { try await flow.start() }
        #expect(await !flow.inProgress)
        #expect(watcher.events == ["error"])
    }

    @Test("After a cancellation or reset, a sign-out flow rejects its redirect", arguments: [false, true])
    func givenUp(byCancel: Bool) async throws {
        let flow = try flow()
        _ = try await flow.start(with: .init(state: "s"))
        if byCancel { await flow.cancel() } else { await flow.reset() }
        #expect(flow.context == nil)
        await #expect(throws: OAuth2Error.invalidContext) { try await flow.resume(with: url("com.example.app:/?state=s")) }
    }

    @Test("A delegate of the logout flow can change the logout URL, and gets the changed URL")
    func delegates() async throws {
        let flow = try flow()
        let watcher = LogoutWatcher()
        flow.add(delegate: watcher)
        let url = try await flow.start()
        #expect(Form.query(url)["theme"] == "dark" && watcher.events == ["customize", "use \(url.absoluteString)"])
    }
}

private final class LogoutWatcher: SessionLogoutFlowDelegate {
    private let told = Locked([String]())
    var events: [String] { told.withLock { $0 } }

    private func note(_ event: String) {
        MainActor.assertIsolated()
        told.withLock { $0.append(event) }
    }

    func logout<Flow>(flow: Flow, received error: OAuth2Error) { note("error") }
    func logout<Flow: SessionLogoutFlow>(flow: Flow, received error: OAuth2Error) { note("error") }
    func logout<Flow: SessionLogoutFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents) {
        note("customize")
        urlComponents.queryItems?.append(URLQueryItem(name: "theme", value: "dark"))
    }
    func logout<Flow: SessionLogoutFlow>(flow: Flow, shouldLogoutUsing url: URL) { note("use \(url.absoluteString)") }
}
