import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OAuth2Auth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Sign-in with a session token")
struct SessionTokenFlowTests {
    private let issuer = ScriptedIssuer()

    /// Responds to the authorize request with a redirect that the test makes from its query.
    private func redirecting(_ redirect: @escaping @Sendable (_ query: [String: String]) throws -> ScriptedIssuer.Reply) {
        issuer.on("/v1/authorize") { [issuer] request, _ in
            let query = Form.query(try #require(request.url))
            let idToken = try issuer.idToken(["nonce": query["nonce"].map(JSONValue.string)])
            issuer.answer("/v1/token", .tokens(["id_token": idToken]))
            return try redirect(query)
        }
    }

    private func flow(_ redirectUri: String = "com.example.app:/callback") throws -> SessionTokenFlow {
        try issuer.client(redirectUri: redirectUri).sessionTokenFlow(additionalParameters: ["audience": "api://x"])
    }

    @Test("The session token is sent only in the authorize request, and the code of the redirect is exchanged for tokens")
    func success() async throws {
        redirecting { .redirect("com.example.app:/callback?code=c&state=\($0["state"] ?? "")") }
        let flow = try flow()
        let token = try await flow.start(with: "session&1")
        #expect(token.accessToken == "access-1" && !flow.isAuthenticating)
        let query = Form.query(try #require(issuer.requests("/v1/authorize").first?.url))
        #expect(query["sessionToken"] == "session&1" && query["code_challenge_method"] == "S256" && query["response_type"] == "code")
        let form = try #require(issuer.forms("/v1/token").first)
        #expect(form["code"] == "c" && form["sessionToken"] == nil && form["code_verifier"]?.count == 43 && form["audience"] == "api://x")
    }

    @Test(
        "A session token sign-in follows redirects within the server",
        arguments: ["/oauth2/default/v1/step", "https://id.example.com/oauth2/default/v1/step"])
    func steps(location: String) async throws {
        redirecting { .redirect("\(location)?state=\($0["state"] ?? "")") }
        issuer.on("/v1/step") { request, _ in
            .redirect("com.example.app:/callback?code=c&state=\(Form.query(try #require(request.url))["state"] ?? "")")
        }
        _ = try await flow().start(with: "s")
        #expect(issuer.requests("/v1/step").count == 1)
    }

    @Test(
        "A session token sign-in never requests the redirect URI, even if the URI is https or on loopback",
        arguments: ["https://app.example.com/cb", "http://127.0.0.1:9/cb"])
    func webRedirect(redirectUri: String) async throws {
        redirecting { .redirect("\(redirectUri)?code=c&state=\($0["state"] ?? "")") }
        _ = try await flow(redirectUri).start(with: "s")
        #expect(issuer.requests("/cb").isEmpty)
    }

    @Test("A session token sign-in fails if the server responds with a page, a redirect without a target or a redirect loop")
    func page() async throws {
        for reply in [
            ScriptedIssuer.Reply.json("<html>"), .redirect(nil), .redirect("\(ScriptedIssuer.base)/v1/authorize?nonce=n&state=s"),
        ] {
            redirecting { _ in reply }
            await #expect(throws: OAuth2Error.missingLocationHeader) { try await flow().start(with: "used") }
        }
        redirecting { _ in .refusal("x", status: 400) }
        await #expect(throws: APIClientError.statusCode(400)) { try await flow().start(with: "used") }
    }

    @Test("A network error of a session token sign-in does not contain the session token")
    func networkError() async throws {
        issuer.on("/v1/authorize") { request, _ in
            let url = try #require(request.url)
            throw URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url, NSLocalizedDescriptionKey: url.absoluteString])
        }
        let error = await #expect(throws: APIClientError.self) { try await flow().start(with: "secret-1") }
        let inner = try #require({ if case .httpError(let inner)? = error { inner as? URLError } else { nil } }())
        #expect(inner.code == .timedOut)
        #expect(inner.userInfo[NSURLErrorFailingURLErrorKey] as? URL == (try url("\(ScriptedIssuer.base)/v1/authorize")))
        #expect(!"\(inner) \(inner.userInfo) \(inner.localizedDescription)".contains("secret-1"))
    }

    @Test("An authorization context that is reused for a session token sign-in gets a new state, nonce and PKCE challenge")
    func reusedContext() async throws {
        redirecting { .redirect("com.example.app:/callback?code=c&state=\($0["state"] ?? "")") }
        let context = SessionTokenFlow.Context()
        let first = Form.query(try await AuthorizationCodeFlow(client: issuer.client()).start(with: context))
        _ = try await flow().start(with: "s-1", context: context)
        _ = try await flow().start(with: "s-2", context: context)
        let others = try issuer.requests("/v1/authorize").map { Form.query(try #require($0.url)) }
        for name in ["state", "nonce", "code_challenge"] {
            #expect(Set(([first] + others).map { $0[name] ?? "" }).count == 3, "\(name)")
        }
    }

    @Test("A session token sign-in does not follow a redirect to another server")
    func elsewhere() async throws {
        redirecting { _ in .redirect("https://evil.example.com/?x=1") }
        await #expect(throws: OAuth2Error.redirectUri(try url("https://evil.example.com/"), reason: .hostOrPath)) {
            try await flow().start(with: "s")
        }
    }

    @Test("A session token sign-in rejects a redirect with a wrong state, and throws the error that a redirect contains")
    func refusals() async throws {
        redirecting { _ in .redirect("com.example.app:/callback?code=c&state=x") }
        await #expect(throws: OAuth2Error.redirectUri(try url("com.example.app:/callback"), reason: .state("x"))) {
            try await flow().start(with: "s")
        }
        redirecting { .redirect("com.example.app:/callback?error=login_required&state=\($0["state"] ?? "")") }
        let error = await #expect(throws: OAuth2ServerError.self) { try await flow().start(with: "s") }
        #expect(error?.code == .other(code: "login_required") && issuer.requests("/v1/token").isEmpty)
    }

    @Test("A session token sign-in rejects a redirect with another issuer")
    func issuerOfAnswer() async throws {
        redirecting { .redirect("com.example.app:/callback?code=c&state=\($0["state"] ?? "")&iss=https%3A%2F%2Fevil.example.com") }
        let error = await #expect(throws: AuthorizationIssuerError.self) { try await flow().start(with: "s") }
        #expect(error?.found == "https://evil.example.com" && issuer.requests("/v1/token").isEmpty)
    }

    @Test("A session token sign-in never uses a pushed authorization request")
    func notPushed() async throws {
        let issuer = ScriptedIssuer(["pushed_authorization_request_endpoint": .string("\(ScriptedIssuer.base)/v1/par")])
        issuer.on("/v1/authorize") { _, _ in .redirect("com.example.app:/callback?error=login_required&state=x") }
        await #expect(throws: OAuth2Error.self) { try await issuer.client().sessionTokenFlow().start(with: "s") }
        #expect(issuer.requests("/v1/par").isEmpty)
        #expect(Form.query(try #require(issuer.requests("/v1/authorize").first?.url))["sessionToken"] == "s")
    }

    @Test("A session token flow cannot be created without a redirect URI")
    func noRedirect() throws {
        #expect(throws: OAuth2Error.redirectUriRequired) { try issuer.client(redirectUri: nil).sessionTokenFlow() }
    }
}
