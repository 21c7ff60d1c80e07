import BrowserSignin
import Foundation

// Names of version 1 of the SDK that apps still use. They are deprecated here too, so that their use causes no warning.

@available(*, deprecated)
@MainActor
func formerSignIn(_ issuer: URL, _ callback: URL) async throws -> Token? {
    let signin = WebAuthentication(
        issuer: issuer, clientId: "app", scopes: "openid profile", redirectUri: callback, logoutRedirectUri: callback,
        additionalParameters: ["idp": "0oa1"])
    do {
        let shared = WebAuthentication.shared ?? signin
        return try await shared.signIn(from: nil)
    } catch WebAuthenticationError.userCancelledLogin {
        return nil
    }
}

@available(*, deprecated)
func formerFlows(_ issuer: URL, _ callback: URL) async throws {
    let code = AuthorizationCodeFlow(issuer: issuer, clientId: "app", scopes: "openid", redirectUri: callback)
    _ = try await code.start(additionalParameters: ["idp": "0oa1"])
    _ = try await code.start(with: .init(state: "s"), additionalParameters: ["idp": "0oa1"])
    code.start(with: nil, additionalParameters: nil) { result in if case .success(let url) = result { _ = url } }
    let logout = SessionLogoutFlow(issuer: issuer, clientId: "app", scopes: "openid", logoutRedirectUri: callback)
    _ = try await logout.start(with: .init(idToken: "a.b.c"), additionalParameters: ["brand": "b"])
    logout.start(with: .init(), additionalParameters: nil) { result in if case .failure(let error) = result { _ = error } }
    _ = try SessionTokenFlow(issuer: issuer, clientId: "app", scopes: "openid", redirectUri: callback)
    _ = DeviceAuthorizationFlow(issuer: issuer, clientId: "app", scopes: "openid")
    _ = JWTAuthorizationFlow(issuer: issuer, clientId: "app", scopes: "openid")
    _ = ResourceOwnerFlow(issuer: issuer, clientId: "app", scopes: "openid")
    _ = TokenExchangeFlow(issuer: issuer, clientId: "app", scopes: "openid")
    _ = try OAuth2Client(domain: "id.example.com", clientId: "app", scopes: "openid")
    _ = OAuth2Client(baseURL: issuer, clientId: "app", scopes: "openid")
}
