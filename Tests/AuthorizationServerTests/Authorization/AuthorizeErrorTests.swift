import Foundation
import Testing

@Suite("Rejected authorization requests")
struct AuthorizeErrorTests {
    /// Changes to a valid request, and the error that the server reports for them.
    struct Case: Sendable, CustomTestStringConvertible {
        var changes: [String: String]
        var error = "invalid_request"
        var testDescription: String { changes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.prefix(40))" }.joined(separator: " ") }
    }

    static let longText = String(repeating: "a", count: 3_000)

    @Test(
        "An authorization request with an invalid client, redirect URI or request URI gets an error page and no redirect",
        arguments: [
            ["client_id": ""], ["client_id": "unknown"],
            ["client_id": "closed-app", "redirect_uri": "https://closed.example.com/callback"],
            ["client_id": longText], ["redirect_uri": ""], ["redirect_uri": "https://evil.example.com/callback"],
            ["redirect_uri": "https://reading.example.com/callback"],
            ["redirect_uri": "https://reading.example.com/callback?source=id&x=1"],
            ["redirect_uri": "https://reading.example.com/Callback?source=id"],
            ["redirect_uri": "https://reading.example.com:443/callback?source=id"],
            ["redirect_uri": "https://reading.example.com/callback?source=id#x"],
            ["redirect_uri": "//reading.example.com/callback?source=id"],
            ["redirect_uri": "https://reading.example.com/callback?source=id\r\nX: y"],
            ["redirect_uri": "https://reading.example.com@evil.example.com/callback?source=id"],
            ["client_id": "unknown", "response_mode": "form_post"], ["request_uri": "https://evil.example.com/request"],
            ["request_uri": "urn:okta:par-unknown"],
        ])
    func page(changes: [String: String]) async throws {
        let server = try await PushServer.refusing().server
        let response = try await server.wire.get(WireRelyingParty.readingApp.authorizeURL(changes))
        #expect(response.status == 400)
        #expect(response["Location"] == nil)
        #expect(response["Content-Type"] == "text/html; charset=utf-8")
        #expect(!response.body.contains("evil"))
    }

    @Test(
        "A native application's loopback redirect URI can have any port, and everything else must match the registered URI",
        arguments: [
            ("http://127.0.0.1/callback", true), ("http://127.0.0.1:1/callback", true), ("http://127.0.0.1:65535/callback", true),
            ("http://127.0.0.1:0/callback", false), ("http://127.0.0.1:65536/callback", false), ("http://127.0.0.1:/callback", false),
            ("http://127.0.0.1:80/callback/", false), ("http://127.0.0.1:80@evil.example.com/callback", false),
            ("http://127.0.0.1:80.evil.example.com/callback", false), ("http://127.0.0.1.evil.example.com/callback", false),
            ("https://127.0.0.1:80/callback", false), ("http://localhost:80/callback", false), ("http://127.0.0.2:80/callback", false),
            ("http://[::1]:80/callback", false), ("com.example.app:/callback", true), ("com.example.app:/callback?x=1", false),
            ("com.example.app:80/callback", false),
        ])
    func loopback(uri: String, isGood: Bool) async throws {
        let server = try await PushServer.refusing().server
        var app = WireRelyingParty.browserApp
        app.redirectURI = uri
        let response = try await server.wire.get(app.authorizeURL(["prompt": "none"]))
        if isGood { #expect(try app.error(response) == "login_required") } else { #expect(response.status == 400) }
    }

    @Test(
        "An invalid authorization request with a valid client and redirect URI is redirected to the client with an OAuth error and the state",
        arguments: [
            Case(changes: ["response_type": ""]), Case(changes: ["response_type": "token"], error: "unsupported_response_type"),
            Case(changes: ["response_type": "code id_token"], error: "unsupported_response_type"),
            Case(changes: ["response_mode": "okta_post_message"], error: "unsupported_response_mode"),
            Case(changes: ["scope": ""], error: "invalid_scope"), Case(changes: ["scope": "openid unknown"], error: "invalid_scope"),
            Case(changes: ["scope": "openid \u{E9}"], error: "invalid_scope"),
            Case(changes: ["code_challenge": "", "code_challenge_method": ""]), Case(changes: ["code_challenge": ""]),
            Case(changes: ["code_challenge_method": ""]), Case(changes: ["code_challenge_method": "plain"]),
            Case(changes: ["code_challenge": "short"]), Case(changes: ["code_challenge": String(repeating: "+", count: 43)]),
            Case(changes: ["nonce": longText]), Case(changes: ["nonce": "a\u{7}"]), Case(changes: ["prompt": "none login"]),
            Case(changes: ["prompt": "select_account"]), Case(changes: ["max_age": "-1"]), Case(changes: ["max_age": "soon"]),
            Case(changes: ["max_age": "99999999999999999999"]), Case(changes: ["id_token_hint": "no.token.this"]),
            Case(changes: ["dpop_jkt": "short"]), Case(changes: ["request": "a.b.c"], error: "request_not_supported"),
            Case(changes: ["prompt": "none"], error: "login_required"),
            Case(changes: ["sessionToken": "unknown"], error: "login_required"), Case(changes: ["sessionToken": longText]),
        ])
    func told(_ refused: Case) async throws {
        let server = try await PushServer.refusing().server
        let app = WireRelyingParty.readingApp
        let response = try await server.wire.get(app.authorizeURL(refused.changes))
        #expect(response.status == 302)
        #expect(try app.error(response) == refused.error)
        #expect(try app.answer(response)["state"] == "some-state")
        #expect(response["Cache-Control"] == "no-cache, no-store")
        #expect(response["Referrer-Policy"] == "no-referrer")
        #expect(response.headers.allSatisfy { $0.name != "Set-Cookie" })
    }

    @Test("A client without the code grant gets unauthorized_client, and a user denied by policy or assignment gets access_denied")
    func unauthorized() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty(id: "no-code-app", redirectURI: "https://nocode.example.com/callback")
            #expect(try app.error(try await server.wire.get(app.authorizeURL())) == "unauthorized_client")
            let browser = WireBrowser(server.wire)
            let page = try await browser.follow(
                try await browser.get("/oauth2/closed/v1/authorize?" + Form.encode(WireRelyingParty.readingApp.parameters())))
            let location = try #require(try await browser.signIn(page)["Location"])
            #expect(location.contains("error=access_denied"))
            // The result is final: the page redirects to the same location again, and the system log has one entry.
            let address = try WireBrowser.form(page, "password").action.replacing("/password", with: "")
            for _ in 1...2 { #expect(try await browser.get(address)["Location"] == location) }
            #expect(try await server.logged("authorization.code") == 1)
            #expect(browser.cookies["session"] == nil)
            // A user who is not assigned to the application learns this only after the correct password.
            let staff = WireRelyingParty.staffApp
            #expect(try staff.error(try await browser.signIn(try await staff.begin(browser))) == "access_denied")
        }
    }

    @Test(
        "An authorization request whose state is missing, too long or non-printable gets invalid_request, and the state is not returned",
        arguments: ["", longText, "a\u{1}b", "\u{E9}"])
    func state(_ state: String) async throws {
        let server = try await PushServer.refusing().server
        let app = WireRelyingParty.readingApp
        let answer = try app.answer(try await server.wire.get(app.authorizeURL(["state": state])))
        #expect(answer["error"] == "invalid_request")
        #expect(answer["state"] == nil)
    }

    @Test("The authorization response escapes the state, so that the state cannot add a parameter or a header")
    func escaped() async throws {
        let server = try await PushServer.refusing().server
        let app = WireRelyingParty.readingApp
        let state = "a&code=evil&iss=x#y%0d%0aSet-Cookie: z=1 \"'<>\\"
        let response = try await server.wire.get(app.authorizeURL(["state": state, "prompt": "none"]))
        #expect(try app.answer(response)["state"] == state)
        #expect(try #require(response["Location"]).utf8.allSatisfy { (0x21...0x7E).contains($0) })
        #expect(response["Set-Cookie"] == nil)
    }

    @Test(
        "A repeated parameter of an authorization request is rejected: on an error page for client_id and redirect_uri, otherwise with invalid_request",
        arguments: ["state", "scope", "client_id", "redirect_uri"])
    func twice(name: String) async throws {
        let server = try await PushServer.refusing().server
        let app = WireRelyingParty.readingApp
        let response = try await server.wire.get(app.authorizeURL() + "&\(name)=another")
        if name == "client_id" || name == "redirect_uri" {
            #expect(response.status == 400)
            #expect(response["Location"] == nil)
        } else {
            #expect(try app.error(response) == "invalid_request")
            #expect(try app.answer(response)["state"] == (name == "state" ? nil : "some-state"))
        }
    }

    @Test("An authorization request returns 400 if it is malformed, 404 at an unknown server and 405 for an unsupported method")
    func unreadable() async throws {
        let server = try await PushServer.refusing().server
        for query in ["client_id=%GG", "client_id=%FF", "a=%00"] {
            #expect(try await server.wire.get("/oauth2/default/v1/authorize?" + query).status == 400)
        }
        let json = try await server.wire.call(
            "POST", "/oauth2/default/v1/authorize", headers: [("Content-Type", "application/json")], body: Array("{}".utf8))
        #expect(json.status == 400)
        #expect(try await server.wire.get("/oauth2/unknown/v1/authorize?client_id=x").status == 404)
        #expect(try await server.wire.call("PUT", "/oauth2/default/v1/authorize").status == 405)
    }
}
