import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Another factor after a denied or unanswered push")
struct AnotherFactorTests {
    private static func code(_ client: DirectClient, _ token: String, _ code: String) async throws -> WireResponse {
        try await client.post("token", ["grant_type": PushOrganization.secondFactorOTP, "mfa_token": token, "otp": code])
    }

    /// Runs a test with a user who has a phone and an authenticator app.
    private static func with(_ body: @Sendable (PushServer, WirePhone, ClassicApp, DirectClient) async throws -> Void) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            try await body(server, phone, ClassicClient(server).app(), DirectClient(server))
        }
    }

    @Test("After a denied push, the mfa_token of the sign-in still accepts an authenticator app code", arguments: [true, false])
    func codeAfterDenial(isPolled: Bool) async throws {
        try await Self.with { server, phone, app, client in
            let pending = try await client.begin()
            try await phone.deny()
            if isPolled { try expectRefusal(try await client.poll(pending), 400, "access_denied") }
            try expectRefusal(try await Self.code(client, pending.mfaToken, app.wrongCode), 400, "invalid_grant")
            let tokens = try await IssuedTokens(
                Self.code(client, pending.mfaToken, app.code()), keysFrom: client.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "otp", "mfa"])
            try expectRefusal(try await client.poll(pending), 400, "invalid_grant")
        }
    }

    @Test("After a denied push, the client can request a new push with the mfa_token, and only the new oob_code gets tokens")
    func pushAfterDenial() async throws {
        try await Self.with { server, phone, _, client in
            let first = try await client.begin()
            let denied = try await phone.challenge()
            try await phone.deny()
            try expectRefusal(try await client.poll(first), 400, "access_denied")
            let again = try await client.challenge(first.mfaToken).json
            let second = DirectClient.Pending(mfaToken: first.mfaToken, oobCode: try #require(again["oob_code"]?.stringValue))
            // The denied challenge accepts no second answer.
            #expect(try await phone.answer(denied, .approve).status == 400)
            try expectRefusal(try await client.poll(first), 400, "invalid_grant")
            try await phone.approve()
            try expectRefusal(try await client.poll(first), 400, "invalid_grant")
            #expect(try await client.poll(second).status == 200)
            try expectRefusal(try await client.poll(second), 400, "invalid_grant")
        }
    }

    @Test("After the user picks a wrong number, the mfa_token of the sign-in still accepts an authenticator app code")
    func codeAfterWrongNumber() async throws {
        try await PushServer.with(PushOrganization(numberChallenge: .always)) { server in
            let phone = try await server.enroll(.init(answersNumbers: true))
            let app = try await ClassicClient(server).app()
            let client = DirectClient(server)
            let pending = try await client.begin()
            let challenge = try await phone.challenge()
            #expect(try await phone.answer(challenge, .pick("00")).status == 400)
            try expectRefusal(try await client.poll(pending), 400, "access_denied")
            #expect(try await Self.code(client, pending.mfaToken, app.code()).status == 200)
        }
    }

    @Test("After a push expires, the mfa_token stays valid until fifteen minutes after the password was accepted")
    func codeAfterExpiry() async throws {
        try await Self.with { server, phone, app, client in
            let pending = try await client.begin()
            server.clock.advance(by: 300)
            try expectRefusal(try await client.poll(pending), 400, "expired_token")
            #expect(try await client.challenge(pending.mfaToken).json["expires_in"] == 300)
            server.clock.advance(by: 500)
            #expect(try await client.challenge(pending.mfaToken).json["expires_in"] == 100)
            server.clock.advance(by: 99)
            try expectRefusal(try await Self.code(client, pending.mfaToken, app.wrongCode), 400, "invalid_grant")
            let late = try await client.mfaToken()
            #expect(try await Self.code(client, pending.mfaToken, app.code()).status == 200)
            // The other mfa_token expires fifteen minutes after its own password.
            server.clock.advance(by: 899)
            #expect(try await client.challenge(late).status == 200)
            server.clock.advance(by: 1)
            try expectRefusal(try await client.challenge(late), 400, "access_denied")
            try expectRefusal(try await Self.code(client, late, app.code()), 400, "invalid_grant")
        }
    }

    @Test("An organization sets the lifetime of its mfa_tokens, and a challenge expires no later than its mfa_token")
    func lifetime() async throws {
        try await PushServer.with(PushOrganization(mfaTokenLifetime: 400)) { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            server.clock.advance(by: 150)
            let answer = try await client.challenge(token).json
            #expect(answer["expires_in"] == 250)
            server.clock.advance(by: 250)
            let pending = DirectClient.Pending(mfaToken: token, oobCode: try #require(answer["oob_code"]?.stringValue))
            #expect(try await phone.waiting().isEmpty)
            try expectRefusal(try await client.poll(pending), 400, "expired_token")
            try expectRefusal(try await client.challenge(token), 400, "access_denied")
        }
    }

    @Test("If the user denies a push that is the first factor, the sign-in fails with access_denied")
    func firstFactor() async throws {
        try await Self.with { server, phone, _, _ in
            let client = DirectClient(server, id: "easy-app")
            let code = try await client.primaryCode()
            try await phone.deny()
            try expectRefusal(try await client.pollPrimary(code), 400, "access_denied")
            try expectRefusal(try await client.pollPrimary(code), 400, "invalid_grant")
        }
    }
}
