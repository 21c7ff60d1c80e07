import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OAuth2Auth

@Suite("Single-step flows")
struct GrantFlowsTests {
    private let issuer = ScriptedIssuer()
    private static let further: [String: any APIRequestArgument] = ["audience": "api://x", "grant_type": "other"]

    private func common(_ form: [String: String]) -> [String: String] {
        form.merging([
            "client_id": "app", "scope": "openid profile", "redirect_uri": "com.example.app:/callback", "audience": "api://x",
        ]) { own, _ in own }
    }

    @Test("The resource owner flow exchanges a user name and a password for tokens")
    func resourceOwner() async throws {
        issuer.answer("/v1/token", .tokens(["id_token": try issuer.idToken()]))
        let flow = try issuer.client().resourceOwnerFlow(additionalParameters: Self.further)
        let token = try await flow.start(username: "jane", password: "a b&c", context: .init(acrValues: ["phr"]))
        #expect(token.accessToken == "access-1" && token.context.acrValues == ["phr"] && !flow.isAuthenticating)
        #expect(
            issuer.forms("/v1/token") == [
                common(["grant_type": "password", "username": "jane", "password": "a b&c", "acr_values": "phr"])
            ])
    }

    @Test("An acr_values among the additional parameters of a context sets the assurance levels, unless the context has levels of its own")
    func levelsAmongParameters() async throws {
        issuer.answer("/v1/token", .tokens())
        let parameters: [String: any APIRequestArgument] = ["acr_values": "phr  other", "idp": "0oa1"]
        let standard = ResourceOwnerFlow.Context(additionalParameters: parameters)
        let device = DeviceAuthorizationFlow.Context(additionalParameters: parameters)
        let exchange = TokenExchangeFlow.Context(additionalParameters: parameters)
        for context: any AuthenticationContext in [standard, device, exchange] {
            #expect(context.acrValues == ["phr", "other"] && context.persistValues == ["acr_values": "phr other"])
        }
        for others in [standard.additionalParameters, device.additionalParameters, exchange.additionalParameters] {
            #expect(others?.mapValues(\.stringValue) == ["idp": "0oa1"])
        }
        #expect(ResourceOwnerFlow.Context(acrValues: ["own"], additionalParameters: parameters).acrValues == ["own"])
        #expect(ResourceOwnerFlow.Context(additionalParameters: ["acr_values": " "]).acrValues == nil)
        let flow = try issuer.client(scope: "profile").resourceOwnerFlow()
        let token = try await flow.start(username: "jane", password: "p", context: standard)
        #expect(token.context.acrValues == ["phr", "other"])
        #expect(issuer.forms("/v1/token").first?["acr_values"] == "phr other" && issuer.forms("/v1/token").first?["idp"] == "0oa1")
    }

    @Test(
        "If tokens arrive for a sign-in that the flow has already ended, the client discards and revokes the tokens",
        .timeLimit(.minutes(1)))
    func late() async throws {
        issuer.answer("/v1/token", .tokens())
        let flow = try issuer.client(scope: "profile").resourceOwnerFlow()
        let token = try await flow.start(username: "jane", password: "secret")
        // The flow no longer waits for this call, although the call has a response.
        await #expect(throws: OAuth2Error.invalidContext) { try await flow.finish(FlowCall<Token>()) { token } }
        await issuer.awaits("/v1/revoke", 2)
        #expect(Set(issuer.forms("/v1/revoke").map { $0["token"] }) == ["access-1", "refresh-1"])
    }

    @Test("The JWT bearer flow exchanges an assertion for tokens")
    func assertion() async throws {
        issuer.answer("/v1/token", .tokens())
        let assertion = try JWT(try issuer.idToken().stringValue ?? "")
        let flow = try issuer.client().jwtAuthorizationFlow(additionalParameters: Self.further)
        _ = try await flow.start(with: assertion)
        #expect(
            issuer.forms("/v1/token") == [
                common(["grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion.rawValue])
            ])
    }

    @Test("The token exchange flow exchanges a device secret and an ID token for tokens")
    func nativeSSO() async throws {
        issuer.answer("/v1/token", .tokens(["issued_token_type": "urn:ietf:params:oauth:token-type:access_token"]))
        let flow = try issuer.client().tokenExchangeFlow()
        let token = try await flow.start(with: [
            .actor(type: .deviceSecret, value: "secret-1"), .subject(type: .idToken, value: "a.b.c"),
        ])
        #expect(token.issuedTokenType == "urn:ietf:params:oauth:token-type:access_token")
        #expect(
            issuer.forms("/v1/token") == [
                common([
                    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "audience": "api://default",
                    "actor_token": "secret-1", "actor_token_type": "urn:x-oath:params:oauth:token-type:device-secret",
                    "subject_token": "a.b.c", "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
                ])
            ])
    }

    @Test(
        "A token exchange request has the token types of RFC 8693",
        arguments: [
            (TokenExchangeFlow.TokenType.Kind.accessToken, "access_token"), (.refreshToken, "refresh_token"), (.idToken, "id_token"),
        ])
    func kinds(kind: TokenExchangeFlow.TokenType.Kind, name: String) async throws {
        issuer.answer("/v1/token", .tokens())
        let flow = try issuer.client().tokenExchangeFlow()
        _ = try await flow.start(
            with: [.subject(type: kind, value: "t"), .actor(type: kind, value: "u")], context: .init(audience: .custom("api://y")))
        let form = try #require(issuer.forms("/v1/token").first)
        #expect(form["subject_token_type"] == "urn:ietf:params:oauth:token-type:\(name)" && form["audience"] == "api://y")
        #expect(form["actor_token_type"] == "urn:ietf:params:oauth:token-type:\(name)")
        #expect("\(TokenExchangeFlow.TokenType.actor(type: kind, value: "secret"))" == "actor(\(kind.rawValue))")
    }

    @Test("If the subject token is missing, a token exchange fails without a request")
    func noSubject() async throws {
        let flow = try issuer.client().tokenExchangeFlow()
        await #expect(throws: OAuth2Error.missingToken(type: .idToken)) {
            try await flow.start(with: [.actor(type: .deviceSecret, value: "s")])
        }
        #expect(issuer.requests("/v1/token").isEmpty)
    }

    @Test("If the server rejects a password sign-in, the flow throws the server's error and informs its delegates")
    func refused() async throws {
        issuer.answer("/v1/token", .refusal("invalid_grant"), .tokens())
        let flow = try issuer.client().resourceOwnerFlow()
        let watcher = Watcher()
        flow.add(delegate: watcher)
        let error = await #expect(throws: APIClientError.self) { try await flow.start(username: "jane", password: "x") }
        #expect(error?.serverError?.code == .invalidGrant && watcher.events == ["started", "error", "finished"])
        _ = try await flow.start(username: "jane", password: "y")
        #expect(watcher.events.suffix(3) == ["started", "token", "finished"])
    }

    @Test("A password sign-in fails if the ID token has another audience")
    func badIDToken() async throws {
        issuer.answer("/v1/token", .tokens(["id_token": try issuer.idToken(["aud": "other"])]))
        await #expect(throws: JWTError.invalidAudience) {
            try await issuer.client().resourceOwnerFlow().start(username: "j", password: "p")
        }
    }

    @Test(
        "If a password sign-in is cancelled or reset during its request, the app gets no tokens, and the received tokens are revoked",
        .timeLimit(.minutes(1)), arguments: [false, true])
    func superseded(byCancelling: Bool) async throws {
        let gate = Gate()
        issuer.on("/v1/token") { _, _ in
            await gate.wait()
            return .tokens()
        }
        let flow = try issuer.client().resourceOwnerFlow()
        let call = Task { try await flow.start(username: "jane", password: "x") }
        await issuer.awaits("/v1/token", 1)
        if byCancelling { call.cancel() } else { await flow.reset() }
        let error = await #expect(throws: (any Error).self) { try await call.value }
        #expect(byCancelling ? error is CancellationError : error as? OAuth2Error == .invalidContext)
        #expect(!flow.isAuthenticating)
        gate.open()
        await issuer.awaits("/v1/revoke", 2)
        #expect(Set(issuer.forms("/v1/revoke").compactMap { $0["token"] }) == ["access-1", "refresh-1"])
    }

    @Test("The completion handler of a password sign-in receives the tokens or the server's error")
    func completions() async throws {
        issuer.answer("/v1/token", .tokens(), .refusal("invalid_grant"))
        let flow = try issuer.client().resourceOwnerFlow()
        for isGood in [true, false] {
            let result = await withCheckedContinuation { continuation in
                flow.start(username: "jane", password: "x") { continuation.resume(returning: $0) }
            }
            switch result {
            case .success(let token): #expect(isGood && token.accessToken == "access-1")
            case .failure(.server(let error)): #expect(!isGood && error.code == .invalidGrant)
            case .failure(let error): Issue.record(error)
            }
        }
    }
}
