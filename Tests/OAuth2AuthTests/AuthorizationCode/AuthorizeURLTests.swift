import AuthFoundation
import Crypto
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OAuth2Auth

@Suite("Authorization URL")
struct AuthorizeURLTests {
    private let issuer = ScriptedIssuer()

    @Test("The authorization URL has the client's parameters, the state, the nonce and an S256 code challenge")
    func plain() async throws {
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        let url = try await flow.start()
        let context = try #require(flow.context)
        #expect(url.absoluteString.hasPrefix("\(ScriptedIssuer.base)/v1/authorize?client_id=app&code_challenge="))
        let nonce = try #require(context.nonce)
        let verifier = try #require(context.pkce?.codeVerifier)
        let challenge = Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        #expect(
            Form.query(url) == [
                "client_id": "app", "redirect_uri": "com.example.app:/callback", "scope": "openid profile", "response_type": "code",
                "state": context.state, "nonce": nonce, "code_challenge": challenge, "code_challenge_method": "S256",
            ])
        #expect(verifier.count == 43 && context.state.count == 22 && nonce.count == 22)
        #expect(flow.isAuthenticating && context.authenticationURL == url)
    }

    @Test("The authorization URL has the context's parameters, which take precedence over the flow's parameters, and no client secret")
    func everything() async throws {
        let client = try issuer.client(authentication: .clientSecret("never in a browser"))
        let flow = try client.authorizationCodeFlow(additionalParameters: [
            "idp": "flow", "audience": "api://x", "client_id": "other", "client_secret": "a secret of the settings",
        ])
        var context = AuthorizationCodeFlow.Context(
            state: "my.state", maxAge: 90.9, acrValues: ["phr", "urn:okta:loa:2fa:any"], additionalParameters: ["idp": "context"])
        context.loginHint = "jane+x@example.com"
        context.display = "touch"
        context.idTokenHint = "a.b.c"
        context.prompt = .loginAndConsent
        context.uiLocales = ["de-CH", "de"]
        context.claimsLocales = ["de"]
        let url = try await flow.start(with: context)
        var expected = [
            "state": "my.state", "max_age": "90", "acr_values": "phr urn:okta:loa:2fa:any", "login_hint": "jane+x@example.com",
            "display": "touch", "id_token_hint": "a.b.c", "prompt": "login consent", "ui_locales": "de-CH de", "claims_locales": "de",
            "idp": "context", "audience": "api://x", "client_id": "app",
        ]
        for name in ["redirect_uri", "scope", "response_type", "nonce", "code_challenge", "code_challenge_method"] {
            expected[name] = Form.query(url)[name]
        }
        #expect(Form.query(url) == expected)
        #expect(url.absoluteString.contains("login_hint=jane%2Bx%40example.com") && !url.absoluteString.contains("secret"))
    }

    @Test("An additional parameter of an authorization context sets the property of the same name")
    func wellKnown() async throws {
        let context = AuthorizationCodeFlow.Context(additionalParameters: [
            "state": "s", "nonce": "n", "max_age": "60", "acr_values": "a b", "login_hint": "jane", "display": "page",
            "id_token_hint": "x.y.z", "prompt": "consent login", "ui_locales": "fr", "claims_locales": "it rm", "idp": "0oa1",
        ])
        #expect(context.state == "s" && context.nonce == "n" && context.maxAge == 60 && context.acrValues == ["a", "b"])
        #expect(context.loginHint == "jane" && context.display == "page" && context.idTokenHint == "x.y.z")
        #expect(context.prompt == .loginAndConsent && context.uiLocales == ["fr"] && context.claimsLocales == ["it", "rm"])
        #expect(context.additionalParameters?.mapValues(\.stringValue) == ["idp": "0oa1"])
        #expect(context.persistValues == ["acr_values": "a b"])
        let url = try await AuthorizationCodeFlow(client: issuer.client()).start(with: context)
        #expect(Form.query(url)["nonce"] == "n" && Form.query(url)["max_age"] == "60")
        let enrollment = AuthorizationCodeFlow.Context(additionalParameters: ["prompt": "enroll_authenticator"])
        #expect(enrollment.prompt == nil && enrollment.parameters(for: .authorization)?["prompt"]?.stringValue == "enroll_authenticator")
    }

    @Test("A delegate of the authorization code flow can change the authorization URL, and gets the changed URL")
    func delegate() async throws {
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        let watcher = Watcher(adding: URLQueryItem(name: "brand", value: "b & c"))
        flow.add(delegate: watcher)
        let url = try await flow.start()
        #expect(Form.query(url)["brand"] == "b & c")
        #expect(watcher.events == ["started", "customize", "use \(url.absoluteString)"])
    }

    @Test("The authorization URL keeps the query of the server's endpoint")
    func endpointQuery() async throws {
        let issuer = ScriptedIssuer(["authorization_endpoint": "https://id.example.com/authorize?tenant=a%20b"])
        let url = try await AuthorizationCodeFlow(client: issuer.client()).start()
        #expect(url.absoluteString.hasPrefix("https://id.example.com/authorize?tenant=a%20b&client_id=app&"))
    }

    @Test("An authorization code flow cannot be created without a redirect URI")
    func noRedirect() throws {
        let client = try issuer.client(redirectUri: nil)
        #expect(throws: OAuth2Error.redirectUriRequired) { try AuthorizationCodeFlow(client: client) }
        #expect(throws: OAuth2Error.redirectUriRequired) { try client.authorizationCodeFlow() }
    }

    @Test("The descriptions of an authorization context contain no state, nonce, code verifier or ID token hint")
    func descriptions() throws {
        var context = AuthorizationCodeFlow.Context(state: "the-state")
        context.idTokenHint = "a.b.c"
        var dumped = ""
        dump(context, to: &dumped)
        for text in ["\(context)", String(reflecting: context), dumped] {
            for secret in ["the-state", "a.b.c", try #require(context.nonce), try #require(context.pkce?.codeVerifier)] {
                #expect(!text.contains(secret))
            }
        }
    }
}

/// A delegate that records its calls and their threads.
final class Watcher: AuthorizationCodeFlowDelegate {
    private let told = Locked([String]())
    private let added: URLQueryItem?

    init(adding item: URLQueryItem? = nil) { added = item }

    var events: [String] { told.withLock { $0 } }

    private func note(_ event: String) {
        MainActor.assertIsolated()
        told.withLock { $0.append(event) }
    }

    func authenticationStarted<Flow>(flow: Flow) { note("started") }
    func authenticationFinished<Flow>(flow: Flow) { note("finished") }
    func authentication<Flow>(flow: Flow, received token: Token) { note("token") }
    func authentication<Flow>(flow: Flow, received error: OAuth2Error) { note("error") }
    func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents) {
        note("customize")
        if let added { urlComponents.queryItems?.append(added) }
    }
    func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, shouldAuthenticateUsing url: URL) { note("use \(url.absoluteString)") }
}
