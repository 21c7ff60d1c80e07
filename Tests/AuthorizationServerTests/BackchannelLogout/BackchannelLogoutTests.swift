import AuthorizationServer
import Delivery
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Back-channel logout")
struct BackchannelLogoutTests {
    /// Returns the header and the claims of a logout token, after verifying its signature with the published keys.
    static func read(_ token: String, _ server: PushServer, base: String = "/oauth2/default/v1") async throws -> (JSONValue, JSONValue) {
        let keys = try JSONWebKeySet(try await server.wire.get("\(base)/keys").json)
        let parsed = try JSONWebSignature(parsing: token)
        let key = try #require(keys.keys.first { $0.keyID == parsed.keyID })
        try parsed.verify(with: VerificationKey(key, algorithm: .rs256))
        let header = try #require(token.split(separator: ".").first)
        return (try JSONValue(parsing: try Base64URL.decode(String(header))), try JSONValue(parsing: parsed.payload))
    }

    @Test("A sign-out sends each registered application one logout token, which is invalid as an ID token hint and at introspection")
    func token() async throws {
        try await PushServer.with { server in
            let signedIn = try await LogoutTests.SignedIn(server, .webApp)
            // Reading app signs in with the same session, and has registered no logout URI.
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
            // The logout token is not valid as an ID token hint, and not active at introspection.
            let other = try await LogoutTests.SignedIn(server)
            #expect(try await other.browser.get(LogoutTests.url(["id_token_hint": notification.token])).status == 400)
            #expect(try await other.isSignedIn())
            let active = try await server.wire.post(
                "/oauth2/default/v1/introspect", Form.encode(["token": notification.token]),
                headers: [("Authorization", "Basic " + Data("web-app:web-app-secret-01234".utf8).base64EncodedString())])
            #expect(try active.json == ["active": false])
            // A repeated sign-out sends no further logout token.
            _ = try await signedIn.browser.get(LogoutTests.url(["id_token_hint": signedIn.idToken]))
            #expect(server.logouts.sent == 1)
        }
    }

    @Test("A sign-out everywhere ends all sessions of the user, and notifies each registered application of its own session")
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
        "A sign-in of another user in the same browser ends the previous session and notifies its applications",
        .timeLimit(.minutes(2)))
    func replaced() async throws {
        try await PushServer.with { server in
            let jane = try await LogoutTests.SignedIn(server, .webApp)
            // A repeated sign-in of the same user continues the session, so the server notifies no application.
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

    @Test(
        "When another user connects a device in the browser, the applications of the previous user's session are notified",
        .timeLimit(.minutes(2)))
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

    /// Ends Jane's sessions like the command, which has no delivery.
    private static func endSessions(_ jane: LogoutTests.SignedIn, _ server: PushServer, at now: Date) async throws {
        let engine = Engine(store: server.engine.store, environment: server.engine.environment)
        let id = try #require(jane.tokens.idToken["sub"]?.stringValue)
        #expect(try await engine.endSessions(ofUser: id, context: RequestContext(now: now, requestID: "users-end-sessions")) == 1)
    }

    /// Runs the deliveries of another server on the same store, with its own clock.
    private static func withDeliveries(
        of server: PushServer, _ body: (RecordingLogoutSender, ManualClock) async throws -> Void
    ) async throws {
        let (sender, clock) = (RecordingLogoutSender(), ManualClock(server.clock.now))
        let engine = Engine(store: server.engine.store, environment: server.engine.environment)
        let other = AuthorizationServer(engine: engine, clock: clock, logoutSender: sender, holdsPolls: false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await other.deliverLogouts() }
            try await body(sender, clock)
            group.cancelAll()
        }
    }

    @Test("Applications are notified within five seconds of a sign-out that another process commits", .timeLimit(.minutes(2)))
    func fromAnotherProcess() async throws {
        try await PushServer.with { server in
            let jane = try await LogoutTests.SignedIn(server, .webApp)
            try await Self.withDeliveries(of: server) { sender, clock in
                await clock.sleepers(1)
                try await Self.endSessions(jane, server, at: clock.now)
                #expect(sender.sent == 0)
                clock.advance(by: 5)
                let notification = try #require(await sender.next(1)["web-app"])
                #expect(try await Self.read(notification.token, server).1["sid"] == jane.tokens.idToken["sid"])
            }
        }
    }

    @Test("A logout notification that was not sent before the server stopped is sent at the next start", .timeLimit(.minutes(2)))
    func afterRestart() async throws {
        try await PushServer.with { server in
            let jane = try await LogoutTests.SignedIn(server, .webApp)
            try await Self.endSessions(jane, server, at: server.clock.now)
            try await Self.withDeliveries(of: server) { sender, _ in
                let notification = try #require(await sender.next(1)["web-app"])
                #expect(try await Self.read(notification.token, server).1["sid"] == jane.tokens.idToken["sid"])
            }
        }
    }

    @Test(
        "An unsafe back-channel logout URI is a configuration error, and plain http on loopback is accepted",
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
