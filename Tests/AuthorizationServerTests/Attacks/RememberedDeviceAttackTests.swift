import JOSE
import TestSupport
import Testing

@testable import IdentityCore
@testable import Store

/// An attacker who knows a user's password, but has no second factor. At the classic API, a remembered device replaces the second factor.
@Suite("Attacks: forged remembered devices")
struct RememberedDeviceAttackTests {
    private static let device = "9f2c7b1e4d6a4f0b8c3d5e7f90123456"
    private static let portal = "a-token-of-the-portal-0123456789"

    private static func with(_ body: @Sendable (PushServer) async throws -> Void) async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "two factors", remembering: .device,
            trustedCallers: [.init(name: "portal", token: portal)],
            trustedOrigins: ["https://portal.example.com"])
        try await PushServer.with(PushOrganization(classic: policy), body)
    }

    private static func client(_ server: PushServer, _ cookie: String, origin: String? = nil)
        -> ClassicClient
    {
        ClassicClient(server, headers: [("Cookie", cookie)] + (origin.map { [("Origin", $0)] } ?? []))
    }

    /// Proves the second factor and has the device remembered.
    @discardableResult
    private static func remember(_ client: ClassicClient, _ app: ClassicApp) async throws
        -> WireResponse
    {
        let status = try await client.begin()
        client.server.clock.advance(by: 30)
        let answer = try await client.follow(
            status.factor("token:software:totp")["_links"]?["verify"], of: status,
            ["passCode": .string(app.code())],
            query: "?rememberDevice=true")
        #expect(try ClassicStatus(answer).name == "SUCCESS")
        return answer
    }

    @Test("A guessed or changed device token, another user's token, or the device's id or digest does not replace the second factor")
    func forgedTokens() async throws {
        try await Self.with { server in
            let own = Self.client(server, "DT=\(Self.device)")
            try await Self.remember(own, try await own.app())
            #expect(try await own.begin().name == "SUCCESS")
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let id = try #require(try await server.engine.rememberedDevices(ofUser: jane).first?.id)
            let digest = TicketDigest(of: Self.device).bytes
            let hex = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            let forged = [
                Self.device.uppercased(), String(Self.device.dropLast()), String(Self.device.dropFirst()),
                Self.device + "0", id, jane,
                String(hex.prefix(32)), Base64URL.encode(digest), "\"\(Self.device)\"",
                "%39" + Self.device.dropFirst(), "",
                String(repeating: "0", count: 32), "\(jane) \(hex)",
            ]
            for token in forged {
                #expect(
                    try await Self.client(server, "DT=\(token)").begin().name == "MFA_REQUIRED", "\(token)")
            }
            for cookie in [
                "dt=\(Self.device)", "XDT=\(Self.device)", "__Host-XDT=\(Self.device)",
                "a=DT=\(Self.device)",
            ] {
                #expect(try await Self.client(server, cookie).begin().name == "MFA_REQUIRED", "\(cookie)")
            }
            // The device is not remembered for another user's account.
            _ = try await own.app(PushOrganization.john)
            let john = try await own.signIn(PushOrganization.john, PushOrganization.johnsPassword)
            #expect(try ClassicStatus(john).name == "MFA_REQUIRED")
        }
    }

    @Test("A device token that an untrusted caller sends in a body member or in a header other than Cookie identifies no remembered device")
    func otherCarriers() async throws {
        try await Self.with { server in
            let own = Self.client(server, "DT=\(Self.device)")
            try await Self.remember(own, try await own.app())
            let body: [String: JSONValue] = [
                "context": ["deviceToken": .string(Self.device)], "deviceToken": .string(Self.device),
            ]
            for headers in [
                [], [("X-Device-Token", Self.device)], [("X-Device-Fingerprint", Self.device)], [("Set-Cookie", "DT=\(Self.device)")],
            ] as [[(String, String)]] {
                let status = try await ClassicClient(server, headers: headers).begin(body)
                #expect(status.name == "MFA_REQUIRED" && status.json["sessionToken"] == nil, "\(headers)")
            }
            // An unknown API token does not make a trusted caller of a public one: the sign-in is refused.
            for token in [Self.device, "wrong-token-of-a-portal-01234567"] {
                let answer = try await ClassicClient(server, headers: [("Authorization", "SSWS \(token)")]).signIn(
                    PushOrganization.jane, PushOrganization.janesPassword, body)
                try expectClassicRefusal(answer, 401, "E0000011")
            }
            // The same body from a trusted caller identifies the device.
            let portal = ClassicClient(server, headers: [("Authorization", "SSWS \(Self.portal)")])
            #expect(try await portal.begin(body).name == "SUCCESS")
        }
    }

    @Test(
        "A device token that was planted in a browser is never remembered, whatever the origin of the page",
        arguments: [
            "https://portal.example.com", RunningServer.origin, "null", "https://evil.example", "",
        ])
    func fixation(origin: String) async throws {
        try await Self.with { server in
            let victim = Self.client(server, "DT=\(Self.device)", origin: origin)
            let app = try await victim.app()
            let status = try await victim.begin()
            server.clock.advance(by: 30)
            let answer = try await victim.follow(
                status.factor("token:software:totp")["_links"]?["verify"], of: status,
                ["passCode": .string(app.code())],
                query: "?rememberDevice=true")
            #expect(try ClassicStatus(answer).name == "SUCCESS")
            // The attacker sends the planted token, as a page and as an app.
            #expect(try await Self.client(server, "DT=\(Self.device)").begin().name == "MFA_REQUIRED")
            #expect(
                try await Self.client(server, "DT=\(Self.device)", origin: origin).begin().name
                    == "MFA_REQUIRED")
            let cookie = try #require(answer["Set-Cookie"])
            #expect(
                cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax")
                    && !cookie.contains(Self.device))
        }
    }

    @Test("A classic sign-in step that proves no second factor does not make the server remember the device")
    func unproved() async throws {
        try await Self.with { server in
            let attacker = Self.client(server, "DT=\(Self.device)")
            let app = try await attacker.app()
            let status = try await attacker.begin(["options": ["rememberDevice": true]])
            let verify = try status.factor("token:software:totp")["_links"]?["verify"]
            for _ in 0..<2 {
                _ = try await attacker.follow(
                    verify, of: status, ["passCode": .string(app.wrongCode)], query: "?rememberDevice=true")
            }
            _ = try await attacker.follow(verify, of: status, query: "?rememberDevice=true")
            _ = try await attacker.follow(
                status.links["cancel"], of: status, ["rememberDevice": true], query: "?rememberDevice=true")
            #expect(try await attacker.begin().name == "MFA_REQUIRED")
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            #expect(try await server.engine.rememberedDevices(ofUser: jane).isEmpty)
        }
    }

    @Test("A sign-in remembers the device that began it, even if a later request of the sign-in names another device")
    func exchanged() async throws {
        try await Self.with { server in
            let victim = Self.client(server, "DT=\(Self.device)")
            let app = try await victim.app()
            let status = try await victim.begin()
            server.clock.advance(by: 30)
            // The attacker's cookie arrives with the last step.
            let other = Self.client(server, "DT=00000000000000000000000000000000")
            let answer = try await other.follow(
                status.factor("token:software:totp")["_links"]?["verify"], of: status,
                ["passCode": .string(app.code())],
                query: "?rememberDevice=true")
            #expect(try ClassicStatus(answer).name == "SUCCESS")
            #expect(try await other.begin().name == "MFA_REQUIRED")
            #expect(try await victim.begin().name == "SUCCESS")
        }
    }

    @Test("After the removal of a remembered device, a sign-in requires the second factor, even if other sign-ins raced with the removal")
    func removalRace() async throws {
        try await Self.with { server in
            let own = Self.client(server, "DT=\(Self.device)")
            let app = try await own.app()
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            for _ in 0..<5 {
                try await Self.remember(own, app)
                let context = RequestContext(now: server.clock.now, requestID: "forget")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 { group.addTask { _ = try await own.begin() } }
                    group.addTask {
                        _ = try await server.engine.forgetRememberedDevices(ofUser: jane, context: context)
                    }
                    try await group.waitForAll()
                }
                #expect(try await own.begin().name == "MFA_REQUIRED")
                #expect(try await server.engine.rememberedDevices(ofUser: jane).isEmpty)
            }
        }
    }

    @Test("The list of remembered devices contains no token and no digest, and only trusted callers can read it")
    func list() async throws {
        try await Self.with { server in
            let own = Self.client(server, "DT=\(Self.device)")
            try await Self.remember(own, try await own.app())
            let path = "/api/v1/users/jane.doe%40example.com/remembered-devices"
            for headers in [[], [("Cookie", "DT=\(Self.device)")], [("Authorization", "SSWS \(Self.device)")]] as [[(String, String)]] {
                #expect(try await server.wire.get(path, headers: headers).status == 401)
            }
            let listed = try await server.wire.get(
                path, headers: [("Authorization", "SSWS \(Self.portal)")])
            let digest = TicketDigest(of: Self.device).bytes
            #expect(
                listed.status == 200 && !listed.body.contains(Self.device)
                    && !listed.body.contains(Base64URL.encode(digest)))
        }
    }
}
