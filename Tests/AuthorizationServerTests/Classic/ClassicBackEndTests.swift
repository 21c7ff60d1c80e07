import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Requests of back ends with an API token (Documentation/Protocol/Authn.md §1.1 and §1.2).
@Suite("Trusted callers of the classic API")
struct ClassicBackEndTests {
    private static let token = "a-token-of-the-portal-0123456789"

    private static func with(
        gateways: [String]? = ["127.0.0.0/8"], limits: RateLimits = RateLimits(perClient: 9, perAddress: 100, perAddressSignIns: 2),
        _ body: @Sendable (PushServer) async throws -> Void
    ) async throws {
        var organization = PushOrganization(
            classic: ClassicPolicy(
                signOnPolicy: "two factors", remembering: .device,
                trustedCallers: [.init(name: "portal", token: token, gateways: gateways)]))
        organization.rateLimits = limits
        try await PushServer.with(organization, body)
    }

    private static func client(_ server: PushServer, for address: String?, token: String? = token) -> ClassicClient {
        let authorization = token.map { [("Authorization", "SSWS \($0)")] } ?? []
        return ClassicClient(server, headers: authorization + (address.map { [("X-Forwarded-For", $0)] } ?? []))
    }

    @Test("Rate limits and the system log use the end user's address from a trusted caller's X-Forwarded-For header", .onOneServer)
    func endUser() async throws {
        try await Self.with { server in
            for address in ["198.51.100.7", "198.51.100.8"] {
                // The back end appends the real address; an entry to its left may be forged by the end user.
                let client = Self.client(server, for: "1.1.1.1, \(address)")
                for _ in 0..<2 { try expectClassicRefusal(try await client.signIn(PushOrganization.jane, "wrong"), 401, "E0000004") }
                try expectClassicRefusal(try await client.signIn(PushOrganization.jane, "wrong"), 429, "E0000047")
            }
            let log = try await server.engine.systemLog(SystemLogQuery(since: .distantPast, typePrefix: "user.authentication.")).events
            #expect(log.compactMap(\.address) == ["198.51.100.7", "198.51.100.7", "198.51.100.8", "198.51.100.8"])
        }
    }

    @Test(
        "The server ignores X-Forwarded-For if the request has no API token or comes from an address outside the caller's gateways",
        .onOneServer,
        arguments: [true, false])
    func strangers(isTrusted: Bool) async throws {
        try await Self.with(gateways: isTrusted ? ["10.0.0.0/8"] : ["127.0.0.1"]) { server in
            for number in 1...3 {
                let client = Self.client(server, for: "198.51.100.\(number)", token: isTrusted ? Self.token : nil)
                let answer = try await client.signIn(PushOrganization.jane, "wrong")
                if number < 3 {
                    try expectClassicRefusal(answer, 401, "E0000004")
                } else {
                    try expectClassicRefusal(answer, 429, "E0000047")
                }
            }
        }
    }

    @Test("The server accepts an API token after the scheme SSWS with or without a space; Okta's Python SDK sends no space")
    func spacing() async throws {
        try await Self.with(limits: PushOrganization().rateLimits) { server in
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            for (header, status) in [
                ("SSWS \(Self.token)", 204), ("SSWS\(Self.token)", 204), ("ssws\(Self.token)", 204), ("SSWS   \(Self.token)", 204),
                ("SSWS", 401), ("SSWS ", 401), ("SSWSx\(Self.token)", 401), (Self.token, 401), ("SSW\(Self.token)", 401),
                ("Bearer\(Self.token)", 401),
            ] {
                let answer = try await server.wire.call(
                    "DELETE", "/api/v1/users/\(jane)/sessions", headers: [("Authorization", header)])
                #expect(answer.status == status, "\(header): \(answer.body)")
            }
        }
    }

    @Test("When a trusted caller ends a user's sessions, tokens are revoked and devices are forgotten only if the caller requests this")
    func sessions() async throws {
        try await Self.with(limits: PushOrganization().rateLimits) { server in
            let app = try await ClassicClient(server).app()
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            func signIn() async throws {
                server.clock.advance(by: 30)
                let client = ClassicClient(server)
                let status = try await client.begin()
                let done = try ClassicStatus(
                    try await client.follow(
                        try status.factor("token:software:totp")["_links"]?["verify"], of: status, ["passCode": .string(app.code())],
                        query: "?rememberDevice=true"))
                let token = try #require(done.json["sessionToken"])
                let made = try await server.wire.call(
                    "POST", "/api/v1/sessions", headers: [("Content-Type", "application/json")],
                    body: JSONValue.object(["sessionToken": token]).serialized())
                #expect(made.status == 200)
            }
            func end(_ user: String, _ query: String = "", token: String? = Self.token) async throws -> WireResponse {
                try await server.wire.call(
                    "DELETE", "/api/v1/users/\(user)/sessions\(query)",
                    headers: token.map { [("Authorization", "SSWS \($0)")] } ?? [])
            }
            let tokens = try await server.wire.post(
                "/oauth2/default/v1/token",
                Form.encode([
                    "client_id": "sso-app", "grant_type": "password", "username": PushOrganization.jane,
                    "password": PushOrganization.janesPassword, "scope": "openid",
                ])
            ).json
            let bearer = try #require(tokens["access_token"]?.stringValue)
            func userInfo() async throws -> Int {
                try await server.wire.get("/oauth2/default/v1/userinfo", headers: [("Authorization", "Bearer \(bearer)")]).status
            }
            func count() async throws -> Int { try await server.engine.sessions(ofUser: jane, now: server.clock.now).count }
            try await signIn()
            #expect(try await count() == 1)
            try expectClassicRefusal(try await end(jane, token: nil), 401, "E0000011")
            try expectClassicRefusal(try await end(jane, token: "another-token-0123456789012345678"), 401, "E0000011")
            try expectClassicRefusal(try await end("unknown"), 404, "E0000007")
            #expect(try await server.wire.get("/api/v1/users/\(jane)/sessions").status == 405)
            #expect(try await count() == 1)
            let answer = try await end("jane.doe%40example.com")
            #expect(answer.status == 204 && answer.body.isEmpty)
            #expect(try await count() == 0)
            #expect(try await server.engine.rememberedDevices(ofUser: jane).count == 1)
            #expect(try await userInfo() == 200)
            try await signIn()
            #expect(try await end(jane, "?oauthTokens=true&forgetDevices=true").status == 204)
            #expect(try await count() == 0)
            #expect(try await server.engine.rememberedDevices(ofUser: jane).isEmpty)
            #expect(try await userInfo() == 401)
            let log = try await server.engine.systemLog(SystemLogQuery(since: .distantPast, typePrefix: "user.session.clear")).events
            #expect(log.compactMap(\.reason) == ["by portal: sessions", "by portal: sessions, tokens, devices"])
            #expect(log.allSatisfy { $0.userID == jane })
        }
    }

    @Test("A trusted caller can start the activation of an account by email, or with a link that the caller delivers")
    func activation() async throws {
        try await Self.with(limits: PushOrganization().rateLimits) { server in
            func activate(_ user: String, _ query: String = "", token: String? = Self.token) async throws -> WireResponse {
                try await server.wire.call(
                    "POST", "/api/v1/users/\(user)/lifecycle/activate\(query)",
                    headers: token.map { [("Authorization", "SSWS \($0)")] } ?? [])
            }
            let newcomer = try #require(try await server.engine.user(login: PushOrganization.newcomer)?.id)
            try expectClassicRefusal(try await activate(newcomer, token: nil), 401, "E0000011")
            try expectClassicRefusal(try await activate(newcomer, token: "another-token-0123456789012345678"), 401, "E0000011")
            try expectClassicRefusal(try await activate("unknown"), 404, "E0000007")
            try expectClassicRefusal(try await activate("jane.doe%40example.com"), 403, "E0000016")
            let mailed = try await activate(newcomer)
            #expect(mailed.status == 200 && mailed.body == "{}")
            let mail = try #require(await server.messages.received())
            #expect(mail.recipient == PushOrganization.newcomer && mail.link?.hasPrefix("/signin/set-up/at_") == true)
            let answer = try await activate(newcomer, "?sendEmail=false").json
            let token = try #require(answer["activationToken"]?.stringValue)
            #expect(
                answer == ["activationToken": .string(token), "activationUrl": .string("\(RunningServer.origin)/signin/set-up/\(token)")])
            #expect(try ClassicStatus(try await ClassicClient(server).post("", ["token": .string(token)])).name == "PASSWORD_RESET")
        }
    }

    @Test("A trusted caller can unlock an account that wrong passwords locked, and cannot unlock an account that is not locked")
    func unlocking() async throws {
        try await Self.with(limits: PushOrganization().rateLimits) { server in
            func unlock(_ user: String, token: String? = Self.token) async throws -> WireResponse {
                try await server.wire.call(
                    "POST", "/api/v1/users/\(user)/lifecycle/unlock", headers: token.map { [("Authorization", "SSWS \($0)")] } ?? [])
            }
            func jane() async throws -> User { try #require(try await server.engine.user(login: PushOrganization.jane)) }
            let client = ClassicClient(server)
            let id = try await jane().id
            try expectClassicRefusal(try await unlock(id), 403, "E0000032")
            for _ in 0..<20 where try await jane().lockedAt == nil { _ = try await client.signIn(PushOrganization.jane, "wrong") }
            #expect(try await jane().lockedAt != nil)
            try expectClassicRefusal(try await unlock(id, token: nil), 401, "E0000011")
            try expectClassicRefusal(try await unlock(id, token: "another-token-0123456789012345678"), 401, "E0000011")
            try expectClassicRefusal(try await unlock("unknown"), 404, "E0000007")
            #expect(try await server.wire.get("/api/v1/users/\(id)/lifecycle/unlock").status == 405)
            #expect(try await jane().lockedAt != nil)
            let answer = try await unlock("jane.doe%40example.com")
            #expect(answer.status == 200 && answer.body == "{}")
            #expect(try await jane().lockedAt == nil)
            _ = try await client.begin()
            try expectClassicRefusal(try await unlock(id), 403, "E0000032")
            let log = try await server.engine.systemLog(SystemLogQuery(since: .distantPast, typePrefix: "user.account.unlock_by")).events
            #expect(log.map(\.reason) == ["by portal"] && log.map(\.userID) == [id])
        }
    }

    @Test("A trusted caller can list a user's remembered devices, and can delete one device or all devices")
    func devices() async throws {
        try await Self.with(limits: PushOrganization().rateLimits) { server in
            let app = try await ClassicClient(server).app()
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let path = "/api/v1/users/\(jane)/remembered-devices"
            let headers = [("Authorization", "SSWS \(Self.token)")]
            for device in ["9f2c7b1e4d6a4f0b8c3d5e7f90123456", "0f2c7b1e4d6a4f0b8c3d5e7f90123456"] {
                server.clock.advance(by: 30)
                let client = ClassicClient(server, headers: [("Cookie", "DT=\(device)")])
                let status = try await client.begin()
                _ = try ClassicStatus(
                    try await client.follow(
                        try status.factor("token:software:totp")["_links"]?["verify"], of: status, ["passCode": .string(app.code())],
                        query: "?rememberDevice=true"))
            }
            try expectClassicRefusal(try await server.wire.get(path), 401, "E0000011")
            let listed = try await server.wire.get(path, headers: headers)
            let devices = try #require(try listed.json.arrayValue)
            #expect(devices.count == 2)
            #expect(Set(devices[0].objectValue?.keys.map { $0 } ?? []) == ["id", "created", "lastProved"])
            #expect(!listed.body.contains("7b1e4d6a4f0b8c3d5e7f9012"))
            let id = try #require(devices[0]["id"]?.stringValue)
            #expect(try await server.wire.call("DELETE", "\(path)/\(id)", headers: headers).status == 204)
            try expectClassicRefusal(try await server.wire.call("DELETE", "\(path)/\(id)", headers: headers), 404, "E0000007")
            #expect(try await server.wire.get(path, headers: headers).json.arrayValue?.count == 1)
            #expect(try await server.wire.call("DELETE", path, headers: headers).status == 204)
            #expect(try await server.wire.get(path, headers: headers).json.arrayValue?.isEmpty == true)
        }
    }
}
