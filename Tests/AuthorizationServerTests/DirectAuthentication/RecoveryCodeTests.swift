import Foundation
import IdentityCore
import JOSE
import Store
import TestSupport
import Testing

/// Documentation/Protocol/OAuth.md §2.4.10 in raw requests.
@Suite("Recovery codes in direct authentication")
struct RecoveryCodeTests {
    private static let organization = PushOrganization(savedCodes: SavedCodesPolicy(count: 4))

    private static func codes(_ server: PushServer) async throws -> [String] {
        let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
        let context = RequestContext(now: server.clock.now, requestID: "codes")
        return try #require(try await server.engine.grantSavedCodes(toUser: id, context: context))
    }

    private static func finish(_ client: DirectClient, _ code: String) async throws -> WireResponse {
        let asked = try await client.password()
        #expect(try asked.json["supported_challenge_types"] == .string(PushOrganization.secondFactorOTP))
        let token = try #require(try asked.json["mfa_token"]?.stringValue, "\(asked.body)")
        return try await client.post("token", ["grant_type": PushOrganization.secondFactorOTP, "mfa_token": token, "otp": code])
    }

    @Test("Each recovery code is accepted once as the second factor, in any case and with any separators")
    func once() async throws {
        try await PushServer.with(Self.organization) { server in
            let codes = try await Self.codes(server)
            #expect(codes.count == 4 && Set(codes).count == 4 && codes.allSatisfy { $0.count == 19 })
            let client = DirectClient(server)
            let tokens = try await IssuedTokens(Self.finish(client, codes[0]), keysFrom: DirectClient.custom, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "otp", "mfa"])
            try expectRefusal(try await Self.finish(client, codes[0]), 400, "invalid_grant")
            let typed = " " + codes[1].uppercased().replacing("-", with: " ").replacing("0", with: "O").replacing("1", with: "l")
            #expect(try await Self.finish(client, typed).status == 200)
            #expect(try await Self.finish(client, codes[2].replacing("-", with: "")).status == 200)
            let found = try await server.engine.overview(of: PushOrganization.jane, now: server.clock.now)
            #expect(found?.factors.map(\.label) == ["1 unused"])
        }
    }

    @Test("Of two simultaneous uses of one recovery code, exactly one succeeds")
    func race() async throws {
        try await PushServer.with(Self.organization) { server in
            let code = try await Self.codes(server)[0]
            let client = DirectClient(server)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await Self.finish(client, code).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 1, "\(statuses)")
        }
    }

    @Test("After the last recovery code, the sign-in no longer offers the grant of recovery codes")
    func usedUp() async throws {
        try await PushServer.with(Self.organization) { server in
            let client = DirectClient(server)
            for code in try await Self.codes(server) { #expect(try await Self.finish(client, code).status == 200) }
            try expectRefusal(try await client.password(), 400, "access_denied")
        }
    }

    @Test("A new list of recovery codes makes the codes of the earlier list invalid")
    func replaced() async throws {
        try await PushServer.with(Self.organization) { server in
            let (old, new) = (try await Self.codes(server), try await Self.codes(server))
            let client = DirectClient(server)
            try expectRefusal(try await Self.finish(client, old[0]), 400, "invalid_grant")
            #expect(try await Self.finish(client, new[0]).status == 200)
        }
    }

    @Test("A recovery code is no first factor, and a wrong code does not use up a right one")
    func misuse() async throws {
        try await PushServer.with(Self.organization) { server in
            let codes = try await Self.codes(server)
            let client = DirectClient(server)
            let first = ["grant_type": PushOrganization.otp, "login_hint": PushOrganization.jane, "otp": codes[0], "scope": "openid"]
            try expectRefusal(try await client.post("token", first), 400, "invalid_grant")
            for wrong in ["0000-0000-0000-0000", codes[0] + "0", String(codes[0].dropLast()), String(repeating: "0", count: 5_000)] {
                try expectRefusal(try await Self.finish(client, wrong), 400, "invalid_grant")
                server.clock.advance(by: 60)
            }
            #expect(try await Self.finish(client, codes[0]).status == 200)
        }
    }

    @Test("Five wrong recovery codes end the sign-in, and its token is then invalid")
    func guesses() async throws {
        try await PushServer.with(Self.organization) { server in
            let code = try await Self.codes(server)[0]
            let client = DirectClient(server)
            let token = try #require(try await client.password().json["mfa_token"]?.stringValue)
            let body = { ["grant_type": PushOrganization.secondFactorOTP, "mfa_token": token, "otp": $0] }
            for _ in 0..<5 { try expectRefusal(try await client.post("token", body("0000-0000-0000-0000")), 400, "invalid_grant") }
            try expectRefusal(try await client.post("token", body(code)), 400, "invalid_grant")
        }
    }

    @Test("The store contains neither a recovery code nor an unsalted digest of it")
    func stored() async throws {
        try await PushServer.with(Self.organization) { server in
            let codes = try await Self.codes(server)
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let records = try await server.engine.store.read { view in
                try view.records(.enrollment, where: "user", is: id, limit: 10)
            }
            let text = records.map { String(decoding: $0.payload, as: UTF8.self) }.joined()
            #expect(text.components(separatedBy: "$scrypt$").count == 5)
            for code in codes { #expect(!text.contains(code) && !text.contains(code.replacing("-", with: ""))) }
        }
    }

    @Test("Without the section recovery_codes in the org file, no user has recovery codes, and earlier codes are refused")
    func off() async throws {
        try await PushServer.with(PushOrganization()) { server in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let context = RequestContext(now: server.clock.now, requestID: "codes")
            #expect(try await server.engine.grantSavedCodes(toUser: id, context: context) == nil)
        }
        try await PushServer.with(Self.organization) { server in
            _ = try await Self.codes(server)
            var definition = Self.organization.definition(origin: RunningServer.origin)
            definition.savedCodes = nil
            _ = try await server.engine.apply(definition, context: RequestContext(now: server.clock.now, requestID: "apply"))
            try expectRefusal(try await DirectClient(server).password(), 400, "access_denied")
        }
    }
}
