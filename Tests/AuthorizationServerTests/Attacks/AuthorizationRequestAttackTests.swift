import Foundation
import JOSE
import Testing

/// Authorization requests without the protections of a code, or with another redirect URI.
@Suite("Attacks: authorization requests")
struct AuthorizationRequestAttackTests {
    private static let noChallenge = ["code_challenge": "", "code_challenge_method": ""]

    @Test("An authorization request without a PKCE challenge is rejected, even from a confidential client")
    func pkce() async throws {
        let server = try await PushServer.refusing().server
        for app in [WireRelyingParty.webApp, .readingApp, .browserApp] {
            let response = try await server.wire.get(app.authorizeURL(Self.noChallenge))
            #expect(try app.error(response) == "invalid_request", "\(app.id)")
        }
    }

    @Test(
        "A client that is required to push its requests gets invalid_request for a GET or POST authorization request that it did not push")
    func unpushed() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.pushingApp
            #expect(try app.error(try await server.wire.get(app.authorizeURL())) == "invalid_request")
            let form = try await server.wire.post("\(app.base)/authorize", Form.encode(app.parameters()))
            #expect(try app.error(form) == "invalid_request")
            // The server ignores parameters in addition to the pushed request.
            let basic = ("Authorization", "Basic " + Data("\(app.id):\(try #require(app.secret))".utf8).base64EncodedString())
            let pushed = try await server.wire.post("\(app.base)/par", Form.encode(app.parameters()), headers: [basic])
            let uri = try #require(try pushed.json["request_uri"]?.stringValue, "\(pushed.body)")
            let browser = WireBrowser(server.wire)
            let link = "\(app.base)/authorize?" + Form.encode(["client_id": app.id, "request_uri": uri, "state": "forged"])
            let page = try await browser.follow(try await browser.get(link))
            let code = try app.code(try await browser.signIn(page))
            #expect(try await app.exchange(code, server.wire).status == 200)
        }
    }

    @Test(
        "A web application's loopback redirect URI must match the registered URI, including the port",
        arguments: [
            ("http://127.0.0.1/web", true), ("http://127.0.0.1:4711/web", false), ("http://127.0.0.1:80/web", false),
            ("http://[::1]/web", false),
        ])
    func loopbackPort(uri: String, isRegistered: Bool) async throws {
        let server = try await PushServer.refusing().server
        var app = WireRelyingParty.webApp
        app.redirectURI = uri
        let response = try await server.wire.get(app.authorizeURL(["prompt": "none"]))
        if isRegistered { #expect(try app.error(response) == "login_required") } else { #expect(response.status == 400) }
        #expect((response["Location"] != nil) == isRegistered)
    }

    @Test(
        "A web application's loopback sign-out redirect URI must match the registered URI, including the port",
        arguments: [("http://127.0.0.1/web-bye", true), ("http://127.0.0.1:4711/web-bye", false)])
    func logoutPort(uri: String, isRegistered: Bool) async throws {
        let server = try await PushServer.refusing().server
        let query = Form.encode(["client_id": "web-app", "post_logout_redirect_uri": uri])
        let response = try await server.wire.get("/oauth2/default/v1/logout?" + query)
        #expect(response["Location"] == (isRegistered ? uri : nil))
        if !isRegistered { #expect(response.status == 400) }
    }
}
