import JOSE
import TestSupport
import Testing

@Suite("Errors of the challenge endpoint")
struct ChallengeErrorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var why: String
        var client = "direct-app"
        /// Parameters that replace those of a valid request; an empty value omits the parameter.
        var changes: [String: String] = [:]
        var status: Int
        var error: String

        var testDescription: String { "\(why): \(status) \(error)" }
    }

    static let rows: [Row] = [
        Row(why: "the mfa_token is unknown", changes: ["mfa_token": "mfa_unknown"], status: 400, error: "access_denied"),
        Row(why: "the mfa_token is of no form that exists", changes: ["mfa_token": "ü \"x"], status: 400, error: "access_denied"),
        Row(why: "no mfa_token", changes: ["mfa_token": ""], status: 400, error: "invalid_request"),
        Row(why: "no challenge type", changes: ["challenge_types_supported": ""], status: 400, error: "invalid_request"),
        Row(why: "no channel", changes: ["channel_hint": ""], status: 400, error: "invalid_request"),
        Row(why: "a channel that does not exist", changes: ["channel_hint": "pigeon"], status: 400, error: "invalid_request"),
        Row(why: "text messages are not set up", changes: ["channel_hint": "sms"], status: 403, error: "access_denied"),
        Row(why: "calls are not set up", changes: ["channel_hint": "voice"], status: 403, error: "access_denied"),
        Row(
            why: "one-time passwords are not set up",
            changes: ["challenge_types_supported": "http://auth0.com/oauth/grant-type/mfa-otp"], status: 403, error: "access_denied"),
        Row(
            why: "WebAuthn is not set up", changes: ["challenge_types_supported": "urn:okta:params:oauth:grant-type:mfa-webauthn"],
            status: 403, error: "access_denied"),
        Row(
            why: "the first factor's grant is no challenge type", changes: ["challenge_types_supported": PushOrganization.oob], status: 403,
            error: "access_denied"),
        Row(why: "the grant is not enabled", client: "password-app", status: 400, error: "unauthorized_client"),
        Row(why: "the mfa_token is another client's", client: "other-app", status: 400, error: "access_denied"),
        Row(why: "the client is unknown", client: "unknown", status: 401, error: "invalid_client"),
        Row(why: "the client does not authenticate", client: "back-end", status: 401, error: "invalid_client"),
        Row(
            why: "the secret is wrong", client: "back-end", changes: ["client_secret": "wrong"], status: 401, error: "invalid_client"),
        Row(why: "no client", client: "", status: 401, error: "invalid_client"),
        Row(
            why: "two kinds of credentials", client: "back-end",
            changes: ["client_secret": "back-end-secret-01234", "client_assertion": "x"], status: 400, error: "invalid_request"),
    ]

    @Test("Each rejected challenge request returns its documented status and error code", arguments: rows)
    func documented(row: Row) async throws {
        let shared = try await PushServer.refusing()
        let response = try await DirectClient(shared.server, id: row.client).challenge(shared.mfaToken, row.changes)
        try expectRefusal(response, row.status, row.error)
    }

    @Test("A rejected challenge request sends no challenge, and leaves the mfa_token valid")
    func undamaged() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let token = try await DirectClient(server).mfaToken()
            for row in Self.rows {
                #expect(try await DirectClient(server, id: row.client).challenge(token, row.changes).status >= 400)
            }
            #expect(try await phone.waiting().isEmpty)
            #expect(try await DirectClient(server).challenge(token).status == 200)
        }
    }

    @Test("An mfa_token is valid for fifteen minutes, and only at its own authorization server")
    func mfaTokenBounds() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            try expectRefusal(
                try await DirectClient(server, base: DirectClient.org).challenge(token), 400, "access_denied")
            server.clock.advance(by: 899)
            #expect(try await client.challenge(token).status == 200)
            server.clock.advance(by: 1)
            try expectRefusal(try await client.challenge(token), 400, "access_denied")
        }
    }

    @Test("A challenge request to an unknown authorization server returns 404 as an API error")
    func unknownServer() async throws {
        try await PushServer.with { server in
            let response = try await DirectClient(server, base: "/oauth2/nothing/v1").challenge("mfa_x")
            #expect(response.status == 404)
            #expect(try response.json["errorCode"] == "E0000007")
            #expect(try response.json["errorCauses"] == [])
        }
    }

    @Test("Challenge types are accepted as a list in one parameter or as repeated parameters")
    func challengeTypes() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let client = DirectClient(server)
            let other = "http://auth0.com/oauth/grant-type/mfa-otp"
            let token = try await client.mfaToken()
            let joined = try await client.challenge(
                token, ["challenge_types_supported": "\(other) \(PushOrganization.secondFactorOOB)"])
            #expect(try joined.json["challenge_type"] == .string(PushOrganization.secondFactorOOB))
            let repeated = try await server.wire.post(
                "\(client.base)/challenge",
                Form.encode(["client_id": client.id, "mfa_token": token, "channel_hint": "push"])
                    + "&challenge_types_supported=\(Form.escape(other))"
                    + "&challenge_types_supported=\(Form.escape(PushOrganization.secondFactorOOB))")
            #expect(try repeated.json["challenge_type"] == .string(PushOrganization.secondFactorOOB))
        }
    }

    @Test("A second challenge request invalidates the first oob_code and the first phone challenge, and keeps the mfa_token valid")
    func replaced() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let first = try await client.begin()
            let old = try await phone.challenge()
            let code = try #require(try await client.challenge(first.mfaToken).json["oob_code"]?.stringValue)
            #expect(code != first.oobCode)
            try expectRefusal(try await client.poll(first), 400, "invalid_grant")
            #expect(try await phone.answer(old, .approve).status == 400)
            try await phone.approve()
            #expect(try await client.poll(.init(mfaToken: first.mfaToken, oobCode: code)).status == 200)
        }
    }

    @Test("While push is disabled, password, first-factor and challenge requests of a user who has only push get access_denied")
    func pushTurnedOff() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            try await server.apply(PushOrganization(isActive: false))
            try expectRefusal(try await client.challenge(token), 403, "access_denied")
            try expectRefusal(try await client.primary(), 403, "access_denied")
            try expectRefusal(try await client.password(), 400, "access_denied")
        }
    }

    @Test("If push is disabled while a challenge is pending, the phone can neither list nor answer the challenge")
    func pushTurnedOffWhileOpen() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let pending = try await client.begin()
            let challenge = try await phone.challenge()
            try await server.apply(PushOrganization(isActive: false))
            #expect(try await phone.answer(challenge, .approve).status == 403)
            #expect(try await phone.waiting().isEmpty)
            try expectRefusal(try await client.poll(pending), 400, "authorization_pending")
        }
    }

    @Test("The sixth push challenge for a user within five minutes returns 429 invalid_grant with the time of the reset")
    func personLimit() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            for _ in 0..<5 {
                _ = try await client.begin()
                server.clock.advance(by: 10)
            }
            let refused = try await client.challenge(try await client.mfaToken())
            try expectRefusal(refused, 429, "invalid_grant", isForUser: true)
            #expect(refused["x-rate-limit-limit"] == "5")
            // The first challenge was sent at 1,800,000,000 and counts for five minutes.
            #expect(refused["x-rate-limit-reset"] == "1800000300")
            // After the reset, the server sends challenges again.
            server.clock.advance(by: 250)
            let pending = try await client.begin()
            let challenges = try await phone.waiting()
            let newest = try #require(challenges.max { ($0.claims["iat"]?.intValue ?? 0) < ($1.claims["iat"]?.intValue ?? 0) })
            #expect(try await phone.answer(newest, .approve).status == 200)
            #expect(try await client.poll(pending).status == 200)
        }
    }
}
