import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@testable import AuthorizationServer

/// The server's clock is corrected by hours or days while it serves.
@Suite("Changes of the server's clock")
struct ClockChangeTests {
    private static let (hours, days) = (7_200.0, 259_200.0)

    private static func isActive(_ tokens: JSONValue, _ running: RunningServer) async throws -> Bool {
        let token = try #require(tokens["access_token"]?.stringValue)
        let answer = try await running.wire.post("/oauth2/default/v1/introspect", "client_id=password-app&token=\(token)")
        return try answer.json["active"] == true
    }

    @Test(
        "An access token is accepted between its issue and its expiry only, also if the clock is set back two hours or forward three days",
        .onOneServer)
    func accessTokens() async throws {
        try await RunningServer.fresh { running in
            let token = try await running.signIn()
            #expect(try await Self.isActive(token, running))
            running.clock.setBack(by: Self.hours)
            #expect(try await !Self.isActive(token, running), "The token was issued in the future.")
            let early = try await running.signIn()
            #expect(try await Self.isActive(early, running))
            running.clock.advance(by: Self.hours)
            #expect(try await Self.isActive(token, running))
            #expect(try await !Self.isActive(early, running), "The token expired an hour ago.")
            running.clock.advance(by: Self.days)
            #expect(try await !Self.isActive(token, running))
            let late = try await running.signIn()
            #expect(try await Self.isActive(late, running))
            running.clock.setBack(by: Self.days)
            #expect(try await !Self.isActive(late, running), "The token was issued in the future.")
        }
    }

    @Test(
        "A refresh token works after the clock was set back and forward, and expires by the clock at its last use", .onOneServer)
    func refreshTokens() async throws {
        try await RunningServer.fresh { running in
            func refresh(_ token: JSONValue) async throws -> JSONValue {
                let secret = try #require(token["refresh_token"]?.stringValue, "\(token)")
                return try await running.wire.post(
                    "/oauth2/default/v1/token", "client_id=password-app&grant_type=refresh_token&refresh_token=\(secret)"
                ).json
            }
            var token = try await running.signIn()
            running.clock.setBack(by: Self.hours)
            token = try await refresh(token)
            running.clock.advance(by: Self.days + Self.hours)
            token = try await refresh(token)
            running.clock.setBack(by: Self.days)
            token = try await refresh(token)
            // A week after the last use, by the clock of that use.
            running.clock.advance(by: 604_800)
            #expect(try await refresh(token)["error"] == "invalid_grant")
        }
    }

    @Test("The server signs with a published key after the clock was set back two hours and forward three days", .onOneServer)
    func keys() async throws {
        try await PushServer.with { server in
            for change in [-Self.hours, Self.days, -Self.days] {
                if change < 0 { server.clock.setBack(by: -change) } else { server.clock.advance(by: change) }
                _ = try await server.engine.maintainKeys(RequestContext(now: server.clock.now, requestID: "maintenance"))
                _ = try await server.engine.removeExpired(now: server.clock.now, limit: 10_000)
                let answer = try await DirectClient(server, id: "easy-app").password()
                _ = try await IssuedTokens(answer, keysFrom: DirectClient.custom, server.wire)
            }
        }
    }

    @Test(
        "A poll for a push is told to slow down at most once after the clock was set back, and an approval after the correction returns tokens",
        .onOneServer)
    func polls() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server, id: "easy-app")
            let code = try await client.primaryCode()
            try expectRefusal(try await client.pollPrimary(code), 400, "authorization_pending")
            server.clock.setBack(by: Self.hours)
            let next = try await client.pollPrimary(code)
            #expect(["authorization_pending", "slow_down"].contains(try next.json["error"]?.stringValue), "\(next.body)")
            // The phone's access token is valid again too.
            server.clock.advance(by: Self.hours + 15)
            try expectRefusal(try await client.pollPrimary(code), 400, "authorization_pending")
            try await phone.approve()
            #expect(try await client.pollPrimary(code).status == 200)
        }
    }

    @Test("After the clock was set forward three days, a pending push has expired, and the next push waits for its approval", .onOneServer)
    func expiredPush() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let client = DirectClient(server, id: "easy-app")
            let code = try await client.primaryCode()
            server.clock.advance(by: Self.days)
            let late = try await client.pollPrimary(code)
            #expect(["expired_token", "invalid_grant"].contains(try late.json["error"]?.stringValue), "\(late.body)")
            try expectRefusal(try await client.pollPrimary(try await client.primaryCode()), 400, "authorization_pending")
        }
    }

    @Test("If the clock is set back, a lock lasts longer by that time, and an administrator can end it", .onOneServer)
    func locks() async throws {
        try await PushServer.with { server in
            let client = DirectClient(server, id: "easy-app")
            for _ in 0..<5 { _ = try await client.password(["password": "wrong"]) }
            server.clock.setBack(by: Self.hours)
            server.clock.advance(by: 31)
            #expect(try await client.password().status == 400)
            server.clock.advance(by: Self.hours)
            #expect(try await client.password().status == 200)
        }
    }

    @Test("If the clock is set back, the pause before the next message lasts longer by that time", .onOneServer)
    func messages() async throws {
        try await PushServer.with { server in
            try await server.give(.sms, "+49 30 5550123")
            let app = WireRelyingParty.browserApp
            let browser = WireBrowser(server.wire)
            let page = try await browser.signIn(try await app.begin(browser))
            _ = try await browser.submit(page, "factor", ["factor": "sms"])
            _ = try #require(await server.messages.received())
            server.clock.setBack(by: Self.hours)
            server.clock.advance(by: 61)
            let next = try await browser.signIn(try await app.begin(browser))
            #expect(try await browser.submit(next, "factor", ["factor": "sms"]).body.contains("A message was sent moments ago."))
        }
    }

    @Test("A session whose sign-in lies in the future does not count as recent, so that the user signs in again", .onOneServer)
    func sessions() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty(id: "fresh-app", redirectURI: "https://fresh.example.com/callback")
            let browser = WireBrowser(server.wire)
            server.clock.advance(by: Self.days)
            _ = try app.code(try await browser.signIn(try await app.begin(browser)))
            // The session is recent: the app gets a code without a page.
            _ = try app.code(try await browser.get(app.authorizeURL([:])))
            server.clock.setBack(by: Self.days)
            _ = try WireBrowser.form(try await app.begin(browser), "password")
        }
    }

    @Test("After the clock was set forward, expired rows are kept for an hour, or until the clock is set back")
    func removal() {
        let start = Date(timeIntervalSince1970: 1_700_000_000)
        func later(_ seconds: Int, setForwardBy change: TimeInterval = 0) -> (Date, Duration) {
            (start.addingTimeInterval(TimeInterval(seconds) + change), .seconds(seconds))
        }
        var watch = ClockWatch()
        func expect(_ change: TimeInterval?, _ isRemoving: Bool, at time: (now: Date, uptime: Duration)) {
            let found = watch.note(time.now, uptime: time.uptime)
            #expect(found == change)
            #expect(watch.permitsRemoval(uptime: time.uptime) == isRemoving)
        }
        expect(nil, true, at: later(0))
        expect(nil, true, at: later(300, setForwardBy: 299))
        expect(Self.days - 299, false, at: later(600, setForwardBy: Self.days))
        expect(nil, false, at: later(4_199, setForwardBy: Self.days))
        expect(nil, true, at: later(4_200, setForwardBy: Self.days))
        expect(Self.days, false, at: later(4_500, setForwardBy: 2 * Self.days))
        expect(-2 * Self.days, true, at: later(4_800))
    }
}
