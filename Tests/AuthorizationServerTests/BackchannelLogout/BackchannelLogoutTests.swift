import AuthorizationServer
import Delivery
import Foundation
import IdentityCore
import JOSE
import Testing

@Suite("Telling applications that a session has ended")
struct BackchannelLogoutTests {
    /// The header and the claims of a logout token, its signature checked by the published keys.
    static func read(_ token: String, _ server: PushServer, base: String = "/oauth2/default/v1") async throws -> (JSONValue, JSONValue) {
        let keys = try JSONWebKeySet(try await server.wire.get("\(base)/keys").json)
        let parsed = try JSONWebSignature(parsing: token)
        let key = try #require(keys.keys.first { $0.keyID == parsed.keyID })
        try parsed.verify(with: VerificationKey(key, algorithm: .rs256))
        let header = try #require(token.split(separator: ".").first)
        return (try JSONValue(parsing: try Base64URL.decode(String(header))), try JSONValue(parsing: parsed.payload))
    }

    @Test("Each application that asked for it is told once, by a token that is good for nothing else")
    func token() async throws {
        try await PushServer.with { server in
            let signedIn = try await LogoutTests.SignedIn(server, .webApp)
            // Reading app signs in with the same session, and wants to hear of nothing.
            #expect(try await signedIn.isSignedIn())
            let now = Int64(server.clock.now.timeIntervalSince1970)
            _ = try await signedIn.browser.get(LogoutTests.url(["id_token_hint": signedIn.idToken]))
            let notification = try #require(await server.logouts.next(1)["web-app"])
            #expect(notification.uri == "https://web.example.com/backchannel-logout")
            let (header, claims) = try await Self.read(notification.token, server)
            #expect(header["typ"] == "logout+jwt")
            #expect(
                claims == [
                    "iss": "https://id.example.com/oauth2/default", "aud": "web-app", "sub": try #require(signedIn.tokens.idToken["sub"]),
                    "sid": try #require(signedIn.tokens.idToken["sid"]), "iat": .integer(now), "exp": .integer(now + 120),
                    "jti": .string(notification.id), "events": ["http://schemas.openid.net/event/backchannel-logout": [:]],
                ])
            // Sent as an id token, it says nothing to anybody.
            let other = try await LogoutTests.SignedIn(server)
            #expect(try await other.browser.get(LogoutTests.url(["id_token_hint": notification.token])).status == 400)
            #expect(try await other.isSignedIn())
            let active = try await server.wire.post(
                "/oauth2/default/v1/introspect", Form.encode(["token": notification.token]),
                headers: [("Authorization", "Basic " + Data("web-app:web-app-secret-01234".utf8).base64EncodedString())])
            #expect(try active.json == ["active": false])
            // Signed out again, nobody is told again.
            _ = try await signedIn.browser.get(LogoutTests.url(["id_token_hint": signedIn.idToken]))
            #expect(server.logouts.sent == 1)
        }
    }

    @Test("Who is signed out everywhere is signed out of every session, and every application is told of its own")
    func everywhere() async throws {
        try await PushServer.with { server in
            let first = try await LogoutTests.SignedIn(server, .webApp)
            let second = try await LogoutTests.SignedIn(server)
            let john = try await LogoutTests.SignedIn(server, .webApp, PushOrganization.john, PushOrganization.johnsPassword)
            let id = try #require(first.tokens.idToken["sub"]?.stringValue)
            try await server.running.server.signOutEverywhere(userID: id)
            let notification = try #require(await server.logouts.next(1)["web-app"])
            let (_, claims) = try await Self.read(notification.token, server)
            #expect(claims["sid"] == first.tokens.idToken["sid"])
            #expect(try await !first.isSignedIn())
            #expect(try await !second.isSignedIn())
            #expect(try await john.isSignedIn())
            let refresh = try #require(second.tokens.body["refresh_token"]?.stringValue)
            let form = ["client_id": "reading-app", "grant_type": "refresh_token", "refresh_token": refresh]
            try expectRefusal(try await server.wire.post("/oauth2/default/v1/token", Form.encode(form)), 400, "invalid_grant")
            #expect(server.logouts.sent == 1)
        }
    }

    @Test(
        "Whose session gives way to another person's in the same browser is signed out, and the applications are told",
        .timeLimit(.minutes(2)))
    func replaced() async throws {
        try await PushServer.with { server in
            let jane = try await LogoutTests.SignedIn(server, .webApp)
            // Signing in again goes on with the session: nobody is told anything.
            let app = WireRelyingParty.readingApp
            _ = try app.code(try await jane.browser.signIn(try await app.begin(jane.browser, ["prompt": "login"])))
            #expect(try await server.logged("user.session.end") == 0)
            let page = try await app.begin(jane.browser, ["prompt": "login"])
            let (login, password) = (PushOrganization.john, PushOrganization.johnsPassword)
            _ = try app.code(try await jane.browser.signIn(page, login, password))
            let notification = try #require(await server.logouts.next(1)["web-app"])
            let (_, claims) = try await Self.read(notification.token, server)
            #expect(claims["sid"] == jane.tokens.idToken["sid"] && claims["sub"] == jane.tokens.idToken["sub"])
            #expect(try await server.logged("user.session.end") == 1)
            #expect(server.logouts.sent == 1)
        }
    }

    @Test("A device that is connected for another person tells the applications as well", .timeLimit(.minutes(2)))
    func replacedForDevice() async throws {
        try await PushServer.with { server in
            let (_, userCode) = try await WireDevice(server.wire).begin()
            let browser = WireBrowser(server.wire)
            let page = try await browser.enter(userCode)
            let jane = try await LogoutTests.SignedIn(server, .webApp, in: browser)
            let question = try await browser.signIn(page, PushOrganization.john, PushOrganization.johnsPassword)
            _ = try await browser.submit(question, "device", ["decision": "allow"])
            let notification = try #require(await server.logouts.next(1)["web-app"])
            #expect(try await Self.read(notification.token, server).1["sid"] == jane.tokens.idToken["sid"])
        }
    }

    @Test(
        "An address that could be somebody else's is refused where it is written",
        arguments: [
            ("http://app.example.com/logout", "Plain http is for loopback only; use https."),
            ("/logout", "“/logout” can not be called. Write an absolute URI: https://app.example.com/backchannel-logout."),
            (
                "ftp://app.example.com/",
                "“ftp://app.example.com/” can not be called. Write an absolute URI: https://app.example.com/backchannel-logout."
            ),
            ("https://app.example.com/#x", "The URI has no fragment; remove # and what follows it."),
            ("https://me:secret@app.example.com/", "The URI has no user name and no password; remove them."),
        ])
    func addresses(uri: String, message: String) {
        var definition = PushOrganization().definition(origin: RunningServer.origin)
        definition.applications[0].backchannelLogoutURI = uri
        #expect(definition.problems().map(\.message) == [message])
        definition.applications[0].backchannelLogoutURI = "http://127.0.0.1:8080/logout"
        #expect(definition.problems().isEmpty)
    }
}
