import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OAuth2Auth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirect of a browser sign-in")
struct RedirectTests {
    private let issuer = ScriptedIssuer()

    /// Returns a flow that waits for its redirect. The token endpoint has a response.
    private func waitingFlow(
        _ issuer: ScriptedIssuer? = nil, context: AuthorizationCodeFlow.Context = .init(),
        redirectUri: String = "com.example.app:/callback",
        claims: [String: JSONValue?] = [:]
    ) async throws -> (flow: AuthorizationCodeFlow, context: AuthorizationCodeFlow.Context) {
        let issuer = issuer ?? self.issuer
        let flow = try AuthorizationCodeFlow(client: issuer.client(redirectUri: redirectUri), additionalParameters: ["audience": "api://x"])
        _ = try await flow.start(with: context)
        let started = try #require(flow.context)
        let nonce = started.nonce.map(JSONValue.string)
        issuer.on("/v1/token") { [issuer] _, _ in
            .tokens(["id_token": try issuer.idToken(claims.merging(["nonce": nonce]) { own, _ in own })])
        }
        return (flow, started)
    }

    private func redirect(_ query: String, to base: String = "com.example.app:/callback") throws -> URL { try url("\(base)?\(query)") }

    @Test("The code of a redirect is exchanged for tokens with the code verifier")
    func success() async throws {
        let (flow, context) = try await waitingFlow(context: .init(acrValues: ["phr"]))
        let watcher = Watcher()
        flow.add(delegate: watcher)
        let token = try await flow.resume(with: redirect("code=c%2F1+2&state=\(context.state)&unknown=1"))
        #expect(token.accessToken == "access-1" && token.context.acrValues == ["phr"])
        #expect(!flow.isAuthenticating && flow.context == nil)
        let pkce = try #require(context.pkce)
        #expect(
            issuer.forms("/v1/token") == [
                [
                    "grant_type": "authorization_code", "code": "c/1 2", "code_verifier": pkce.codeVerifier,
                    "redirect_uri": "com.example.app:/callback", "client_id": "app", "scope": "openid profile", "audience": "api://x",
                ]
            ])
        #expect(watcher.events == ["token", "finished"])
    }

    @Test(
        "A redirect to another redirect URI is rejected, and the sign-in continues",
        arguments: [
            ("com.other.app:/callback", OAuth2Error.RedirectReason.scheme("com.other.app")),
            ("com.example.app:/other", .hostOrPath), ("com.example.app://callback", .hostOrPath),
            ("com.example.app:/callback/", .hostOrPath),
        ])
    func foreign(base: String, reason: OAuth2Error.RedirectReason) async throws {
        let (flow, context) = try await waitingFlow()
        await #expect(throws: OAuth2Error.redirectUri(try url(base), reason: reason)) {
            try await flow.resume(with: redirect("code=c&state=\(context.state)", to: base))
        }
        #expect(flow.isAuthenticating && issuer.requests("/v1/token").isEmpty)
        _ = try await flow.resume(with: redirect("code=c&state=\(context.state)", to: "COM.example.APP:/callback"))
    }

    @Test(
        "A redirect to another host or port of this machine is rejected",
        arguments: [
            "http://127.0.0.1:8401/callback", "http://localhost:8400/callback", "http://127.0.0.1/callback",
            "http://jane@127.0.0.1:8400/callback",
        ])
    func loopback(base: String) async throws {
        let (flow, context) = try await waitingFlow(redirectUri: "http://127.0.0.1:8400/callback")
        await #expect(throws: OAuth2Error.redirectUri(try url(base), reason: .hostOrPath)) {
            try await flow.resume(with: redirect("code=c&state=\(context.state)", to: base))
        }
        _ = try await flow.resume(with: redirect("code=c&state=\(context.state)", to: "http://127.0.0.1:8400/callback"))
    }

    @Test(
        "A redirect with a wrong or missing state is rejected, and the sign-in continues",
        arguments: [
            ("code=c&state=wrong", "wrong"), ("code=c", nil), ("error=access_denied&state=wrong", "wrong"), ("error=access_denied", nil),
            ("code=c&state=", ""), ("", nil),
        ])
    func state(query: String, state: String?) async throws {
        let (flow, context) = try await waitingFlow()
        let watcher = Watcher()
        flow.add(delegate: watcher)
        await #expect(throws: OAuth2Error.redirectUri(try url("com.example.app:/callback"), reason: .state(state))) {
            try await flow.resume(with: redirect(query))
        }
        #expect(flow.isAuthenticating && issuer.requests("/v1/token").isEmpty && watcher.events == ["error"])
        _ = try await flow.resume(with: redirect("code=c&state=\(context.state)"))
    }

    @Test("A redirect with a repeated parameter is rejected", arguments: ["state", "code"])
    func twice(name: String) async throws {
        let (flow, context) = try await waitingFlow()
        await #expect(throws: OAuth2Error.redirectUri(try url("com.example.app:/callback"), reason: .invalid)) {
            try await flow.resume(with: redirect("code=c&state=\(context.state)&\(name)=\(context.state)"))
        }
    }

    @Test("A redirect without a code is rejected, and ends the sign-in", arguments: ["", "&code="])
    func noCode(query: String) async throws {
        let (flow, context) = try await waitingFlow()
        await #expect(throws: OAuth2Error.redirectUri(try url("com.example.app:/callback"), reason: .codeRequired)) {
            try await flow.resume(with: redirect("state=\(context.state)\(query)"))
        }
        #expect(!flow.isAuthenticating)
    }

    @Test("If a redirect contains an error, the sign-in throws this error with its description")
    func serverError() async throws {
        let (flow, context) = try await waitingFlow()
        let error = await #expect(throws: OAuth2ServerError.self) {
            try await flow.resume(
                with: redirect("error=access_denied&error_description=Not+you%2C+please.&error_uri=u&state=\(context.state)"))
        }
        #expect(error?.code == .accessDenied && error?.debugDescription == "Not you, please. (access_denied)")
        #expect(error?.additionalValues["error_uri"] as? String == "u")
        #expect(!flow.isAuthenticating && issuer.requests("/v1/token").isEmpty)
    }

    @Test(
        "A redirect with a wrong or missing issuer is rejected before its error is read",
        arguments: [
            (false, "&iss=https%3A%2F%2Fevil.example.com", "https://evil.example.com"), (true, "", nil),
            (true, "&iss=https%3A%2F%2Fid.example.com%2Foauth2%2Fdefault%2F", "https://id.example.com/oauth2/default/"),
        ])
    func issuer(isAnnounced: Bool, parameter: String, found: String?) async throws {
        for answer in ["code=c", "error=access_denied"] {
            let issuer = ScriptedIssuer(isAnnounced ? ["authorization_response_iss_parameter_supported": true] : [:])
            let (flow, context) = try await waitingFlow(issuer)
            let error = await #expect(throws: AuthorizationIssuerError.self) {
                try await flow.resume(with: redirect("\(answer)&state=\(context.state)\(parameter)"))
            }
            #expect(error?.found == found && error?.expected.absoluteString == ScriptedIssuer.base)
            #expect(issuer.requests("/v1/token").isEmpty && !flow.isAuthenticating)
        }
    }

    @Test("A redirect with the right issuer is accepted", arguments: [false, true])
    func rightIssuer(isAnnounced: Bool) async throws {
        let issuer = ScriptedIssuer(isAnnounced ? ["authorization_response_iss_parameter_supported": true] : [:])
        let (flow, context) = try await waitingFlow(issuer)
        _ = try await flow.resume(with: redirect("code=c&state=\(context.state)&iss=https://id.example.com/oauth2/default"))
    }

    @Test(
        "An ID token with a wrong or missing nonce is rejected, and the tokens of the response are revoked", .timeLimit(.minutes(1)),
        arguments: [JSONValue?.some("other"), .none])
    func nonce(_ nonce: JSONValue?) async throws {
        let (flow, context) = try await waitingFlow(claims: ["nonce": nonce])
        await #expect(throws: JWTError.nonceMismatch) { try await flow.resume(with: redirect("code=c&state=\(context.state)")) }
        #expect(!flow.isAuthenticating)
        await issuer.awaits("/v1/revoke", 2)
        #expect(Set(issuer.forms("/v1/revoke").compactMap { $0["token"] }) == ["access-1", "refresh-1"])
    }

    @Test("An ID token whose authentication is older than max_age is rejected")
    func maxAge() async throws {
        let (flow, context) = try await waitingFlow(context: .init(maxAge: 4))
        await #expect(throws: JWTError.exceedsMaxAge) { try await flow.resume(with: redirect("code=c&state=\(context.state)")) }
    }

    @Test("A token response without the requested ID token is rejected, and its tokens are revoked", .timeLimit(.minutes(1)))
    func noIDToken() async throws {
        let (flow, context) = try await waitingFlow()
        issuer.answer("/v1/token", .tokens())
        await #expect(throws: OAuth2Error.missingToken(type: .idToken)) {
            try await flow.resume(with: redirect("code=c&state=\(context.state)"))
        }
        await issuer.awaits("/v1/revoke", 2)
        #expect(Set(issuer.forms("/v1/revoke").compactMap { $0["token"] }) == ["access-1", "refresh-1"])
    }

    @Test(
        "A token response needs no ID token if the scope openid was not requested or not granted", arguments: ["profile", "openid profile"])
    func withoutOpenID(scope: String) async throws {
        let flow = try AuthorizationCodeFlow(client: issuer.client(scope: scope))
        _ = try await flow.start()
        issuer.answer("/v1/token", .tokens(["scope": "profile"]))
        let token = try await flow.resume(with: redirect("code=c&state=\(flow.context?.state ?? "")"))
        #expect(token.idToken == nil)
    }

    @Test("If the server rejects the authorization code, the sign-in ends, and a second redirect is rejected")
    func refusedCode() async throws {
        let (flow, context) = try await waitingFlow()
        issuer.answer("/v1/token", .refusal("invalid_grant"))
        let watcher = Watcher()
        flow.add(delegate: watcher)
        let error = await #expect(throws: APIClientError.self) { try await flow.resume(with: redirect("code=c&state=\(context.state)")) }
        #expect(error?.serverError?.code == .invalidGrant && !flow.isAuthenticating && watcher.events == ["error", "finished"])
        await #expect(throws: OAuth2Error.invalidContext) { try await flow.resume(with: redirect("code=c&state=\(context.state)")) }
        #expect(issuer.requests("/v1/token").count == 1)
    }

    @Test("The app can read the authorization code from a redirect URL, and a wrong state causes an error")
    func reading() throws {
        let configuration = try issuer.client().configuration
        #expect(try redirect("code=c&state=s").authorizationCode(state: "s", configuration: configuration) == "c")
        #expect(try redirect("code=c&state=s", to: "x:/y").authorizationCode(state: "s", configuration: nil) == "c")
        #expect(throws: OAuth2Error.redirectUri(try url("com.example.app:/callback"), reason: .state("s"))) {
            try redirect("code=c&state=s").authorizationCode(state: "t", configuration: configuration)
        }
    }
}
