import Foundation
import OAuth2Auth

// Each function uses one part of OAuth2Auth's public API with the labels, defaults and effects that app code relies on.

func browser(_ client: OAuth2Client, _ callback: URL) async throws -> Token {
    let issuer = URL(string: "https://id.example.com/oauth2/default")!
    _ = AuthorizationCodeFlow(issuerURL: issuer, clientId: "app", scope: "openid profile", redirectUri: callback)
    _ = AuthorizationCodeFlow(
        issuerURL: issuer, clientId: "app", scope: ["openid", "profile"], redirectUri: callback, logoutRedirectUri: callback,
        additionalParameters: ["idp": "0oa1"])
    _ = try AuthorizationCodeFlow()
    _ = try AuthorizationCodeFlow(plist: URL(filePath: "/tmp/Okta.plist"))
    _ = try client.authorizationCodeFlow(additionalParameters: ["idp": "0oa1"])
    let flow = try AuthorizationCodeFlow(client: client)
    var context = AuthorizationCodeFlow.Context(state: "s", maxAge: 300, acrValues: ["phr"], additionalParameters: ["login_hint": "jane"])
    context.prompt = .loginAndConsent
    context.loginHint = "jane"
    context.uiLocales = ["de"]
    let url = try await flow.start(with: context)
    _ = try await flow.start()
    _ = (flow.context?.authenticationURL == url, flow.isAuthenticating, flow.client.configuration.redirectUri)
    _ = (flow.context?.pkce?.codeVerifier, flow.context?.nonce, flow.context?.state)
    flow.start { result in if case .success(let url) = result { _ = url } }
    flow.resume(with: callback) { result in if case .failure(let error) = result { _ = error.localizedDescription } }
    _ = try callback.authorizationCode(state: "s", configuration: client.configuration)
    await flow.reset()
    return try await flow.resume(with: callback)
}

func logout(_ client: OAuth2Client, _ token: Token) async throws {
    let flow = SessionLogoutFlow(client: client)
    let url: URL = try await flow.start(with: .init(token: token, logoutHint: "jane"))
    _ = try await client.sessionLogoutFlow().start(with: .init(idToken: "a.b.c", state: "s"))
    _ = try await flow.start()
    flow.start { result in if case .failure(let error) = result { _ = error } }
    _ = (url, flow.context?.logoutURL, flow.inProgress)
    await flow.cancel()
    await flow.reset()
}

func device(_ client: OAuth2Client) async throws -> Token {
    let flow = client.deviceAuthorizationFlow()
    let verification = try await flow.start()
    _ = (verification.userCode, verification.verificationUri, verification.verificationUriComplete, verification.expiresAt)
    flow.start(with: .init(acrValues: ["phr"])) { (result: Result<DeviceAuthorizationFlow.Verification, OAuth2Error>) in _ = result }
    flow.resume { (result: Result<Token, OAuth2Error>) in _ = result }
    return try await flow.resume()
}

func oneStep(_ client: OAuth2Client, _ assertion: JWT) async throws {
    let issuer = URL(string: "https://id.example.com")!
    _ = try await JWTAuthorizationFlow(issuerURL: issuer, clientId: "app", scope: "openid").start(with: assertion)
    _ = try await ResourceOwnerFlow(client: client).start(username: "jane", password: "secret", context: .init(acrValues: ["phr"]))
    _ = try await SessionTokenFlow(issuerURL: issuer, clientId: "app", scope: "openid", redirectUri: issuer).start(with: "token")
    _ = try await client.sessionTokenFlow().start(with: "token")
    let exchange = TokenExchangeFlow(issuerURL: issuer, clientId: "app", scope: ["openid"])
    _ = try await exchange.start(
        with: [.actor(type: .deviceSecret, value: "s"), .subject(type: .idToken, value: "a.b.c")], context: .init(audience: .default))
    _ = TokenExchangeFlow.Audience.custom("api://x")
    ResourceOwnerFlow(client: client).start(username: "jane", password: "secret") { result in
        if case .success(let token) = result { _ = token.accessToken }
    }
}

final class BrowserWatcher: AuthorizationCodeFlowDelegate, SessionLogoutFlowDelegate, DeviceAuthorizationFlowDelegate {
    func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents) {
        urlComponents.queryItems?.append(URLQueryItem(name: "brand", value: "x"))
    }
    func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, shouldAuthenticateUsing url: URL) {}
    func authentication<Flow: DeviceAuthorizationFlow>(flow: Flow, received verification: DeviceAuthorizationFlow.Verification) {}
    func logout<Flow: SessionLogoutFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents) {}
    func logout<Flow: SessionLogoutFlow>(flow: Flow, shouldLogoutUsing url: URL) {}
    func logout<Flow: SessionLogoutFlow>(flow: Flow, received error: OAuth2Error) {}
    func authentication<Flow>(flow: Flow, received token: Token) {}
}

func watch(_ flow: AuthorizationCodeFlow, _ watcher: BrowserWatcher) {
    flow.add(delegate: watcher)
    flow.remove(delegate: watcher)
}
