import AuthFoundation
import Foundation
import OAuth2Auth
import TestSupport
import Testing

@testable import BrowserSignin

@Suite("Configuration of BrowserSignin")
@MainActor
struct OptionsTests {
    @Test("The property ephemeralSession sets and clears the option of the same name")
    func ephemeral() throws {
        let signin = try BrowserSignin(BrowserIssuer().client(), in: ScriptedBrowser.idle())
        #expect(!signin.ephemeralSession && signin.options.isEmpty)
        signin.ephemeralSession = true
        #expect(signin.options == .ephemeralSession)
        signin.ephemeralSession = false
        #expect(signin.options.isEmpty)
    }

    @Test("The browser provider receives the current options at each sign-in")
    func optionsAreTold() async throws {
        let issuer = BrowserIssuer()
        let told = Locked<[BrowserSignin.Option]>([])
        let signin = BrowserSignin(loginFlow: try AuthorizationCodeFlow(client: issuer.client()), logoutFlow: nil) { _, _, options in
            told.withLock { $0.append(options) }
            return ScriptedBrowser.signingIn(at: issuer)
        }
        _ = try await signin.signIn()
        signin.ephemeralSession = true
        _ = try await signin.signIn()
        #expect(told.withLock { $0 } == [[], .ephemeralSession])
    }

    @Test(
        "In the user's own browser, an ephemeral session sends prompt=login to request the credentials again",
        arguments: [
            (true, nil, "login"), (true, "consent", "login consent"), (true, "none", "none"), (false, nil, nil),
            (false, "consent", "consent"),
        ] as [(Bool, String?, String?)])
    func ephemeralPrompt(isEphemeral: Bool, asked: String?, expected: String?) async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedListeningBrowser(.signingIn(at: issuer))
        let signin = try BrowserSignin(issuer.client(redirectUri: "http://127.0.0.1/callback"), in: browser)
        signin.ephemeralSession = isEphemeral
        _ = try await signin.signIn(context: .init(additionalParameters: asked.map { ["prompt": $0] }))
        #expect(query(browser.pages.first)["prompt"] == expected)
    }

    @Test("In a private browser, an ephemeral session sends no prompt parameter")
    func ephemeralPrivate() async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedBrowser.signingIn(at: issuer)
        let signin = try BrowserSignin(issuer.client(), in: browser)
        signin.ephemeralSession = true
        _ = try await signin.signIn()
        #expect(query(browser.pages.first)["prompt"] == nil)
    }

    @Test("The redirect URI in the authorization request and in the token request has the port of the loopback listener")
    func port() async throws {
        let issuer = BrowserIssuer()
        let browser = ScriptedListeningBrowser(.signingIn(at: issuer))
        let signin = try BrowserSignin(issuer.client(redirectUri: "http://127.0.0.1/callback"), in: browser)
        _ = try await signin.signIn()
        #expect(query(browser.pages.first)["redirect_uri"] == "http://127.0.0.1:4711/callback")
        #expect(issuer.forms("/token").first?["redirect_uri"] == "http://127.0.0.1:4711/callback")
    }

    @Test("A browser sign-in recognizes its loopback redirect by the state, and rejects a missing, wrong or repeated state")
    func isAnswer() async throws {
        let issuer = BrowserIssuer()
        let seen = Locked<[Bool]>([])
        let listener = Locked<ScriptedListeningBrowser?>(nil)
        let browser = ScriptedListeningBrowser(
            ScriptedBrowser { page, _ in
                let redirect = try issuer.visit(page)
                let state = query(page)["state"] ?? ""
                let base = "http://127.0.0.1:4711/callback"
                let tries = [redirect, try url("\(base)?state=other"), try url(base), try url("\(base)?state=\(state)&state=\(state)")]
                seen.withLock { $0 = tries.map { listener.withLock { $0 }?.isAnswer($0) ?? false } }
                return redirect
            })
        listener.withLock { $0 = browser }
        let signin = try BrowserSignin(issuer.client(redirectUri: "http://127.0.0.1/callback"), in: browser)
        _ = try await signin.signIn()
        #expect(seen.withLock { $0 } == [true, false, false, false])
        #expect(!browser.isAnswer(try url("http://127.0.0.1:4711/callback?state=other")))
    }

    // MARK: Making one

    @Test("BrowserSignin.shared is the instance that was created last")
    func shared() throws {
        let issuer = try url(ScriptedIssuer.base)
        let redirectUri = try url("com.example.app:/callback")
        let first = BrowserSignin(issuerURL: issuer, clientId: "app", scope: "openid profile", redirectUri: redirectUri)
        #expect(BrowserSignin.shared === first && first.signOutFlow == nil)
        #expect(first.signInFlow.client.configuration.scope == ["openid", "profile"])
        let second = BrowserSignin(
            issuerURL: issuer, clientId: "app", scope: ["openid"], redirectUri: redirectUri,
            logoutRedirectUri: try url("com.example.app:/"),
            additionalParameters: ["brand": "b"])
        #expect(BrowserSignin.shared === second && second.signOutFlow != nil)
        #expect(second.signInFlow.additionalParameters?["brand"]?.stringValue == "b")
    }

    @Test("BrowserSignin reads its settings from a property list")
    func propertyList() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "Okta-\(ProcessInfo.processInfo.globallyUniqueString).plist")
        defer { try? FileManager.default.removeItem(at: file) }
        let settings = [
            "issuer": "id.example.com/oauth2/default", "clientId": "app", "scopes": "openid profile",
            "redirectUri": "com.example.app:/callback", "logoutRedirectUri": "com.example.app:/", "brand": "b",
        ]
        try PropertyListSerialization.data(fromPropertyList: settings, format: .xml, options: 0).write(to: file)
        let signin = try BrowserSignin(plist: file)
        #expect(signin.signInFlow.client.configuration.issuerURL.absoluteString == ScriptedIssuer.base)
        #expect(signin.signInFlow.additionalParameters?["brand"]?.stringValue == "b" && signin.signOutFlow != nil)
        #expect(BrowserSignin.shared === signin)
    }

    @Test("BrowserSignin rejects a property list without a redirect URI")
    func propertyListWithoutRedirect() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "Okta-\(ProcessInfo.processInfo.globallyUniqueString).plist")
        defer { try? FileManager.default.removeItem(at: file) }
        let settings = ["issuer": "https://id.example.com", "clientId": "app", "scopes": "openid"]
        try PropertyListSerialization.data(fromPropertyList: settings, format: .xml, options: 0).write(to: file)
        #expect(throws: OAuth2Error.redirectUriRequired) { try BrowserSignin(plist: file) }
    }

    @Test("BrowserSignin creates browser sessions with the provider factory that the app sets")
    func factory() async throws {
        enum Factory: BrowserSignin.ProviderFactory {
            static let issuer = BrowserIssuer()
            static func createWebAuthenticationProvider(
                for browserSignin: BrowserSignin, from window: BrowserSignin.WindowAnchor?, options: BrowserSignin.Option
            ) async throws -> any BrowserSignin.Provider {
                ScriptedBrowser.signingIn(at: issuer)
            }
        }
        let client = try Factory.issuer.client()
        let signin = BrowserSignin(loginFlow: try AuthorizationCodeFlow(client: client), logoutFlow: nil)
        let usual = BrowserSignin.providerFactory
        BrowserSignin.providerFactory = Factory.self
        defer { BrowserSignin.providerFactory = usual }
        #expect(try await signin.signIn().accessToken == "access-1")
    }

    #if os(Linux)
    @Test("On Linux, a redirect URI with a custom scheme is rejected, and the technical description suggests a loopback redirect URI")
    func customScheme() async throws {
        let signin = BrowserSignin(
            loginFlow: try AuthorizationCodeFlow(client: BrowserIssuer().client()), logoutFlow: nil,
            makeProvider: SystemProviderFactory.createWebAuthenticationProvider)
        let error = await #expect(throws: BrowserSigninError.invalidRedirectScheme("com.example.app")) { try await signin.signIn() }
        #expect(error?.debugDescription.contains("http://127.0.0.1/callback") == true)
        #expect(error?.debugDescription.contains("“redirectUri”") == true)
    }
    #endif

    @Test("Each BrowserSigninError has a description and differs from every other error")
    func texts() {
        let errors: [BrowserSigninError] = [
            .noCompatibleAuthenticationProviders, .noSignOutFlowProvided, .cannotStartBrowserSession, .cannotComposeAuthenticationURL,
            .authenticationProvider(error: SystemBrowserError.timedOut(seconds: 600)), .noAuthenticatorProviderResponse,
            .serverError(OAuth2ServerError(code: "access_denied", description: "Denied")), .invalidRedirectScheme("app"),
            .userCancelledLogin(), .userCancelledLogin("Closed."), .missingIdToken, .oauth2(error: .invalidContext),
            .generic(error: SystemBrowserError.cannotOpen(commands: ["firefox"])), .genericError(message: "Words."),
            .authenticationProvider(error: SystemBrowserError.cannotListen(port: 80, reason: "Permission denied")),
            .authenticationProvider(error: SystemBrowserError.cannotListen(port: nil, reason: "Permission denied")),
        ]
        for (index, error) in errors.enumerated() {
            #expect(!error.localizedDescription.isEmpty && error.debugDescription.count > 5)
            for (other, otherError) in errors.enumerated() { #expect((error == otherError) == (index == other)) }
        }
        #expect(BrowserSigninError(OAuth2Error.invalidContext) == .oauth2(error: .invalidContext))
        #expect(BrowserSigninError(InvalidFixture()) != .userCancelledLogin())
        #expect(BrowserSigninError(CancellationError()) == .userCancelledLogin())
    }
}
