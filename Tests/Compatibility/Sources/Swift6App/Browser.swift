import BrowserSignin
import Foundation

// Each function uses one part of BrowserSignin's public API with the labels, defaults and effects that app code relies on.

@MainActor
func signin(_ client: OAuth2Client, _ callback: URL) async throws -> Token {
    let issuer = URL(string: "https://id.example.com/oauth2/default")!
    _ = BrowserSignin(issuerURL: issuer, clientId: "app", scope: "openid profile", redirectUri: callback)
    _ = BrowserSignin(
        issuerURL: issuer, clientId: "app", scope: ["openid", "profile"], redirectUri: callback, logoutRedirectUri: callback,
        additionalParameters: ["idp": "0oa1"])
    _ = try BrowserSignin()
    _ = try BrowserSignin(plist: URL(filePath: "/tmp/Okta.plist"))
    let signin = BrowserSignin(loginFlow: try AuthorizationCodeFlow(client: client), logoutFlow: SessionLogoutFlow(client: client))
    signin.options = [.ephemeralSession]
    signin.options.insert(.ephemeralSession)
    signin.ephemeralSession.toggle()
    _ = (signin.signInFlow.client, signin.signOutFlow?.client, BrowserSignin.shared === signin)
    let window: BrowserSignin.WindowAnchor? = nil
    _ = try await signin.signIn()
    _ = try await signin.signIn(from: window)
    return try await signin.signIn(from: window, context: .init(acrValues: ["phr"], additionalParameters: ["login_hint": "jane"]))
}

@MainActor
func signout(_ signin: BrowserSignin, _ credential: Credential) async throws {
    try await signin.signOut(token: credential.token)
    try await signin.signOut(credential: credential)
    try await signin.signOut(from: nil)
    let url: URL = try await signin.signOut(from: nil, token: credential.token, context: .init(logoutHint: "jane", state: "s"))
    _ = try await signin.signOut(from: nil, credential: credential, context: .init(additionalParameters: ["brand": "b"]))
    let report = await signin.signOut(credential: credential, ending: .all)
    _ = (url, report.session.isDone, report.tokens, report.failure)
    await signin.cancel()
}

/// A provider of the app, and the factory that creates it.
struct RehearsedBrowser: BrowserSignin.Provider, BrowserSignin.ProviderFactory {
    func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL { redirectUri }
    func cancel() {}

    static func createWebAuthenticationProvider(
        for browserSignin: BrowserSignin, from window: BrowserSignin.WindowAnchor?, options: BrowserSignin.Option
    ) async throws -> any BrowserSignin.Provider {
        RehearsedBrowser()
    }
}

@MainActor
func rehearse() {
    BrowserSignin.providerFactory = RehearsedBrowser.self
}

func explain(_ error: BrowserSigninError) -> String {
    switch error {
    case .noCompatibleAuthenticationProviders, .noSignOutFlowProvided, .cannotStartBrowserSession, .cannotComposeAuthenticationURL,
        .noAuthenticatorProviderResponse, .missingIdToken:
        return "set-up"
    case .authenticationProvider(let error), .generic(let error): return error.localizedDescription
    case .serverError(let error): return error.code.rawValue
    case .invalidRedirectScheme(let scheme): return scheme ?? ""
    case .userCancelledLogin(let reason): return reason ?? ""
    case .oauth2(let error): return error.localizedDescription
    case .genericError(let message): return message
    }
}
