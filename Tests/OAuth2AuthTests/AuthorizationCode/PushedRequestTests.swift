import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OAuth2Auth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Pushed authorization requests")
struct PushedRequestTests {
    private static let endpoint = JSONValue.string("\(ScriptedIssuer.base)/v1/par")
    private let issuer = ScriptedIssuer(["pushed_authorization_request_endpoint": endpoint])

    @Test("With a pushed authorization request, the server gets all parameters, and the browser gets only the client ID and a reference")
    func pushed() async throws {
        issuer.answer("/v1/par", .json(#"{"request_uri":"urn:okta:par-1 2","expires_in":300}"#, status: 201))
        let flow = try AuthorizationCodeFlow(
            client: issuer.client(authentication: .clientSecret("s")), additionalParameters: ["request_uri": "urn:forged"])
        let watcher = Watcher(adding: URLQueryItem(name: "brand", value: "b & c"))
        flow.add(delegate: watcher)
        var asked = AuthorizationCodeFlow.Context(maxAge: 10)
        asked.loginHint = "jane+x"
        let url = try await flow.start(with: asked)
        #expect(url.absoluteString == "\(ScriptedIssuer.base)/v1/authorize?client_id=app&request_uri=urn%3Aokta%3Apar-1%202")
        let context = try #require(flow.context)
        let (nonce, pkce) = (try #require(context.nonce), try #require(context.pkce))
        #expect(
            issuer.forms("/v1/par") == [
                [
                    "client_id": "app", "client_secret": "s", "redirect_uri": "com.example.app:/callback", "scope": "openid profile",
                    "response_type": "code", "state": context.state, "nonce": nonce, "max_age": "10", "login_hint": "jane+x",
                    "code_challenge": pkce.codeChallenge, "code_challenge_method": "S256", "brand": "b & c",
                ]
            ])
        #expect(issuer.requests("/v1/par").first?.value(forHTTPHeaderField: "Content-Type")?.hasPrefix("application/x-www-form") == true)
        issuer.on("/v1/token") { [issuer] _, _ in .tokens(["id_token": try issuer.idToken(["nonce": context.nonce.map(JSONValue.string)])])
        }
        _ = try await flow.resume(with: try TestSupport.url("com.example.app:/callback?code=c&state=\(context.state)"))
    }

    @Test("If a pushed authorization request fails, the sign-in ends with the server's error", arguments: [400, 500])
    func refused(status: Int) async throws {
        issuer.answer("/v1/par", .refusal("invalid_request", status: status))
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        let error = await #expect(throws: APIClientError.self) { try await flow.start() }
        #expect(error?.serverError?.code == .invalidRequest && !flow.isAuthenticating)
    }

    @Test("The app can disable pushed authorization requests unless the server requires them", arguments: [false, true])
    func disabled(isRequired: Bool) async throws {
        let issuer = ScriptedIssuer([
            "pushed_authorization_request_endpoint": Self.endpoint, "require_pushed_authorization_requests": .bool(isRequired),
        ])
        issuer.answer("/v1/par", .json(#"{"request_uri":"urn:1","expires_in":300}"#))
        var context = AuthorizationCodeFlow.Context()
        context.pushedAuthorizationRequestEnabled = false
        let url = try await AuthorizationCodeFlow(client: issuer.client()).start(with: context)
        #expect(issuer.requests("/v1/par").count == (isRequired ? 1 : 0))
        #expect(Form.query(url)["request_uri"] == (isRequired ? "urn:1" : nil))
    }

    @Test("A sign-in fails if the endpoint for pushed authorization requests is required but missing, or is not https")
    func noEndpoint() async throws {
        let without = ScriptedIssuer(["require_pushed_authorization_requests": true])
        await #expect(throws: OAuth2Error.missingOpenIdConfiguration(attribute: "pushed_authorization_request_endpoint")) {
            try await AuthorizationCodeFlow(client: without.client()).start()
        }
        let unsafe = ScriptedIssuer(["pushed_authorization_request_endpoint": "http://id.example.com/par"])
        await #expect(throws: OAuth2Error.invalidUrl) { try await AuthorizationCodeFlow(client: unsafe.client()).start() }
    }

    @Test(
        "A sign-in fails if the response to a pushed authorization request has no request URI",
        arguments: ["{}", #"{"request_uri":1}"#, "no JSON"])
    func noReference(body: String) async throws {
        issuer.answer("/v1/par", .json(body))
        await #expect(throws: APIClientError.self) { try await AuthorizationCodeFlow(client: issuer.client()).start() }
    }
}
