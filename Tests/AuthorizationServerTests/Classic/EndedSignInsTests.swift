import IdentityCore
import JOSE
import TestSupport
import Testing

/// Sign-ins and session tokens from before all sessions of a user were ended.
@Suite("Ending all sessions of a user")
struct EndedSignInsTests {
    private static let portal = [("Authorization", "SSWS a-token-of-the-portal-0123456789")]
    private static let organization = PushOrganization(
        classic: ClassicPolicy(
            signOnPolicy: "two factors", recovery: [.email],
            trustedCallers: [.init(name: "portal", token: "a-token-of-the-portal-0123456789")]))

    private static func endSessions(_ server: PushServer, _ query: String = "") async throws {
        let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
        let answer = try await server.wire.call("DELETE", "/api/v1/users/\(id)/sessions\(query)", headers: portal)
        #expect(answer.status == 204)
    }

    private static func sessionToken(_ server: PushServer, _ app: ClassicApp) async throws -> String {
        let client = ClassicClient(server)
        let status = try await client.begin()
        let verify = try status.factor("token:software:totp")["_links"]?["verify"]
        let done = try ClassicStatus(try await client.follow(verify, of: status, ["passCode": .string(app.code())]))
        return try #require(done.json["sessionToken"]?.stringValue)
    }

    private static func begin(_ token: String, _ server: PushServer) async throws -> WireResponse {
        try await server.wire.call(
            "POST", "/api/v1/sessions", headers: [("Content-Type", "application/json")],
            body: (["sessionToken": .string(token)] as JSONValue).serialized())
    }

    // The clock stands still while the sessions are ended several times, and each end must still count.
    @Test(
        "Ending a user's sessions invalidates the session tokens that were issued before, but not session tokens that are issued later",
        arguments: 1...3)
    func sessionToken(ends: Int) async throws {
        try await PushServer.with(Self.organization) { server in
            let app = try await ClassicClient(server).app()
            for _ in 1..<ends { try await Self.endSessions(server) }
            let traded = try await Self.sessionToken(server, app)
            server.clock.advance(by: 30)
            let other = try await Self.sessionToken(server, app)
            for _ in 1...ends { try await Self.endSessions(server) }
            try expectClassicRefusal(try await Self.begin(traded, server), 401, "E0000011")
            let browser = WireBrowser(server.wire)
            let party = WireRelyingParty.readingApp
            #expect(try party.error(try await browser.get(party.authorizeURL(["sessionToken": other]))) == "login_required")
            #expect(browser.cookies["session"] == nil)
            server.clock.advance(by: 30)
            #expect(try await Self.begin(try await Self.sessionToken(server, app), server).status == 200)
        }
    }

    @Test("Ending a user's sessions invalidates pending sign-ins in the classic API, on the hosted pages and in direct authentication")
    func underWay() async throws {
        try await PushServer.with(Self.organization) { server in
            let app = try await ClassicClient(server).app()
            let client = ClassicClient(server)
            let status = try await client.begin()
            let browser = WireBrowser(server.wire)
            let page = try await browser.signIn(try await WireRelyingParty.browserApp.begin(browser))
            #expect(page.body.contains("name=\"code\""))
            let direct = DirectClient(server)
            let mfaToken = try await direct.mfaToken()
            try await Self.endSessions(server)
            let verify = try status.factor("token:software:totp")["_links"]?["verify"]
            let late = try await client.follow(verify, of: status, ["passCode": .string(app.code())])
            try expectClassicRefusal(late, 401, "E0000011")
            let form = try WireBrowser.form(page, "code")
            let over = try await browser.post(form.action, form.fields.merging(["code": app.code()]) { $1 })
            #expect(over.status == 400 && over.body.contains("This sign-in has expired"))
            let answer = try await direct.post(
                "token", ["grant_type": PushOrganization.secondFactorOTP, "mfa_token": mfaToken, "otp": app.code()])
            try expectRefusal(answer, 400, "invalid_grant")
            // Sign-ins that begin later are not affected.
            let token = try await Self.sessionToken(server, app)
            let party = WireRelyingParty.readingApp
            let code = try party.code(try await WireBrowser(server.wire).get(party.authorizeURL(["sessionToken": token])))
            #expect(try await party.exchange(code, server.wire).status == 200)
            server.clock.advance(by: 30)
            let mfa = ["grant_type": PushOrganization.secondFactorOTP, "mfa_token": try await direct.mfaToken(), "otp": app.code()]
            #expect(try await direct.post("token", mfa).status == 200)
        }
    }

    @Test(
        "Ending a user's sessions keeps a mailed recovery link valid, and invalidates a recovery that the user has already started",
        arguments: ["", "?oauthTokens=true"])
    func recovery(query: String) async throws {
        try await PushServer.with(Self.organization) { server in
            let client = ClassicClient(server)
            _ = try await client.post("/recovery/password", ["username": .string(PushOrganization.jane), "factorType": "EMAIL"])
            let token = try #require(await server.messages.received()?.link?.split(separator: "/").last)
            try await Self.endSessions(server, query)
            let answer = try await client.post("/recovery/token", ["recoveryToken": .string(String(token))])
            let status = try ClassicStatus(answer)
            #expect(status.name == "PASSWORD_RESET")
            // The recovery that the link begins is a sign-in, so it ends too.
            try await Self.endSessions(server, query)
            try expectClassicRefusal(
                try await client.follow(status.next, of: status, ["newPassword": "Another-Horse-8"]), 401, "E0000011")
        }
    }
}
