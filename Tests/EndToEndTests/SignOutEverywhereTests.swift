import AuthFoundation
import AuthorizationServer
import BrowserSignin
import CountersignSandbox
import Foundation
import JOSE
import OAuth2Auth
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests with two browsers of one user, a browser of another user, and a site that is notified of sign-outs.
@Suite("Signing out everywhere", .timeLimit(.minutes(10)))
struct SignOutEverywhereTests {
    private static let site = SandboxApplication.web

    @Test(
        "Signing a user out everywhere ends all browser sessions of the user, notifies the web application, and keeps other users' sessions",
        arguments: [true, false])
    func everywhere(revokesTokens: Bool) async throws {
        let listener = try PlainListener()
        defer { listener.close() }
        try await withSandbox(Self.configuration(telling: listener)) { sandbox in
            let (desk, laptop) = (sandbox.browser(visitor: Self.person(.jane)), sandbox.browser(visitor: Self.person(.jane)))
            let johns = sandbox.browser(visitor: Self.person(.john))
            let tokens = [try await Self.signIn(desk, sandbox), try await Self.signIn(laptop, sandbox)]
            _ = try await Self.signIn(johns, sandbox)

            let answer = try await Self.post(sandbox, ["login": "jane.doe@example.com", "tokens": .bool(revokesTokens)])
            #expect(answer.status == 200 && answer.json == ["signed_out": "jane.doe@example.com"])
            let told = try await Self.claims(of: listener.next(2), sandbox)
            #expect(Set(told.map { $0["sid"] }) == Set(try tokens.map { try Self.session(of: $0) }) && told.count == 2)
            #expect(told.allSatisfy { $0["aud"] == "web-app" && $0["sub"]?.stringValue == tokens[0].idToken?.subject })

            let client = sandbox.client(Self.site)
            for (browser, token) in zip([desk, laptop], tokens) {
                let pages = browser.visited.count
                _ = try await Self.signIn(browser, sandbox)
                #expect(browser.visited.count > pages, "The session is still there.")
                let error = await thrown { _ = try await client.refresh(token) }
                #expect(revokesTokens ? serverCode(of: error) == "invalid_grant" : error == nil, "\(String(describing: error))")
            }
            let pages = johns.visited.count
            _ = try await Self.signIn(johns, sandbox)
            #expect(johns.visited.count == pages)
        }
    }

    @Test(
        "A sign-out in the browser sends a back-channel logout token to the web application, also from a sandbox without a port",
        arguments: [true, false])
    func browser(hasPort: Bool) async throws {
        let listener = try PlainListener()
        defer { listener.close() }
        var configuration = Self.configuration(telling: listener)
        if !hasPort { configuration.listening = .inProcess }
        try await withSandbox(configuration) { sandbox in
            let browser = sandbox.browser(visitor: Self.person(.jane))
            let token = try await Self.signIn(browser, sandbox)
            _ = try await sandbox.browserSignin(in: browser, Self.site).signOut(token: token)
            let told = try await Self.claims(of: listener.next(1), sandbox)
            #expect(told.map { $0["sid"] } == [try Self.session(of: token)])
        }
    }

    @Test("The sandbox's control API rejects a sign-out of an unknown user, or a sign-out request with an invalid body, with 400")
    func unknownUser() async throws {
        try await withSandbox { sandbox in
            #expect(try await !sandbox.signOutEverywhere("unknown@example.com"))
            let unknown = try await Self.post(sandbox, ["login": "unknown@example.com"])
            #expect(unknown.status == 400 && unknown.json["error"] == "The sandbox has no user unknown@example.com.")
            for body in [[:], ["login": "jane.doe@example.com", "tokens": "yes"]] as [JSONValue] {
                #expect(try await Self.post(sandbox, body).status == 400)
            }
        }
    }

    // MARK: -

    /// Returns the sandbox's default organization, with an application that is notified of sign-outs at the listener.
    private static func configuration(telling listener: PlainListener) -> Sandbox.Configuration {
        let text = OrgFile.sandboxDefault.replacing(
            "secret: web-app-secret-01\n",
            with: "secret: web-app-secret-01\n    backchannel_logout_uri: http://127.0.0.1:\(listener.port)/backchannel-logout\n"
        ).replacing(
            "post_logout_redirect_uris: [\"http://localhost:3000/\", \"http://127.0.0.1:3000/\"]",
            with: "post_logout_redirect_uris: [\"com.example.app:/\"]"
        )
        .replacing(
            "redirect_uris: [\"http://localhost:3000/callback\", \"http://127.0.0.1:3000/callback\"]",
            with: "redirect_uris: [\"com.example.app:/callback\"]")
        return Sandbox.Configuration(organization: text, clock: SandboxClock(.standing))
    }

    private static func person(_ user: SandboxUser) -> SandboxBrowser.Visitor { SandboxBrowser.person(user) }

    private static func signIn(_ browser: SandboxBrowser, _ sandbox: Sandbox) async throws -> Token {
        try await sandbox.browserSignin(in: browser, site).signIn()
    }

    private static func session(of token: Token) throws -> JSONValue? {
        let text = try #require(token.idToken?.rawValue)
        return try JSONValue(parsing: try JSONWebSignature(parsing: text).payload)["sid"]
    }

    /// Returns the claims of the logout tokens, after verifying their signatures with the published keys.
    private static func claims(of requests: [PlainListener.Request], _ sandbox: Sandbox) async throws -> [JSONValue] {
        let (keys, _) = try await sandbox.transport.data(for: URLRequest(url: sandbox.issuer.appending(path: "v1/keys")))
        let set = try JSONWebKeySet(try JSONValue(parsing: keys))
        return try requests.map { request in
            #expect(request.head.hasPrefix("POST /backchannel-logout HTTP/1.1\r\n"))
            let token = try #require(request.body.wholeMatch(of: /logout_token=(.+)/)?.1)
            let parsed = try JSONWebSignature(parsing: String(token))
            let key = try #require(set.keys.first { $0.keyID == parsed.keyID })
            try parsed.verify(with: VerificationKey(key, algorithm: .rs256))
            return try JSONValue(parsing: parsed.payload)
        }
    }

    private static func post(_ sandbox: Sandbox, _ body: JSONValue) async throws -> (status: Int, json: JSONValue) {
        var request = URLRequest(url: sandbox.origin.appending(path: "sandbox/sign-out"))
        request.httpMethod = "POST"
        request.httpBody = Data(body.serialized())
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (data, response) = try await PlainHTTP.data(for: request)
        return (response.statusCode, try JSONValue(parsing: data))
    }
}
