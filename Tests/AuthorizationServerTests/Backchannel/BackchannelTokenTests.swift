import JOSE
import TestSupport
import Testing

@Suite("Tokens of backchannel requests")
struct BackchannelTokenTests {
    private static let both = WirePhone.Options(transactionTypes: ["LOGIN", "CIBA"])

    @Test(
        "A backchannel request is pending until the device approves, and then yields tokens with an ID token",
        arguments: BackchannelRequestTests.bases)
    func success(base: String) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(Self.both)
            let desk = BackchannelClient(server, base: base)
            let request = try await desk.begin(["scope": "openid profile offline_access", "binding_message": "Order 7"])
            try expectRefusal(try await desk.poll(request), 400, "authorization_pending")
            try await phone.approve()
            server.clock.advance(by: 5)
            let tokens = try await IssuedTokens(try await desk.poll(request), keysFrom: base, server.wire)
            #expect(
                Set(tokens.body.keys) == ["token_type", "expires_in", "access_token", "scope", "refresh_token", "id_token"])
            #expect(tokens.body["token_type"] == "Bearer")
            #expect(tokens.body["expires_in"] == 3600)
            #expect(tokens.body["scope"] == "openid profile offline_access")
            #expect(tokens.idToken["aud"] == "desk")
            #expect(tokens.idToken["sub"] == .string(phone.userID))
            #expect(tokens.idToken["amr"] == ["okta_verify", "swk"])
            #expect(tokens.idToken["auth_time"] == 1_800_000_000)
            #expect(tokens.idToken["iat"] == 1_800_000_005)
            #expect(tokens.idToken["nonce"] == nil)
            #expect(tokens.accessToken["cid"] == "desk")
            try expectRefusal(try await desk.poll(request), 400, "invalid_grant")
        }
    }

    @Test("If the policy requires two factors, the device must verify the user for a backchannel request")
    func twoFactors() async throws {
        try await PushServer.with { server in
            var options = Self.both
            options.verifiesUser = true
            let phone = try await server.enroll(options)
            let desk = BackchannelClient(server, .strictDesk)
            let request = try await desk.begin()
            let challenge = try await phone.challenge()
            #expect(challenge.claims["userVerification"] == "REQUIRED")
            #expect(try await phone.answer(challenge, .approve).status == 400)
            try await phone.approve(.approveVerified)
            let tokens = try await IssuedTokens(try await desk.poll(request), keysFrom: desk.base, server.wire)
            #expect(tokens.idToken["amr"] == ["okta_verify", "swk", "face", "mfa"])
        }
        try await PushServer.with { server in
            _ = try await server.enroll(Self.both)
            try expectRefusal(try await BackchannelClient(server, .strictDesk).authorize(), 400, "unknown_user_id")
        }
    }

    @Test("A backchannel poll before the polling interval has passed gets slow_down, and the request stays pending", .onOneServer)
    func pace() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(Self.both)
            let desk = BackchannelClient(server)
            let request = try await desk.begin()
            try expectRefusal(try await desk.poll(request), 400, "authorization_pending")
            try expectRefusal(try await desk.poll(request), 400, "slow_down")
            server.clock.advance(by: 10)
            try expectRefusal(try await desk.poll(request), 400, "authorization_pending")
            try await phone.approve()
            #expect(try await desk.poll(request).status == 200)
        }
    }

    @Test("After the user denies a backchannel request, the first poll gets access_denied and the next poll gets invalid_grant")
    func denied() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(Self.both)
            let desk = BackchannelClient(server)
            let request = try await desk.begin()
            try await phone.deny()
            try expectRefusal(try await desk.poll(request), 400, "access_denied")
            try expectRefusal(try await desk.poll(request), 400, "invalid_grant")
        }
    }

    @Test(
        "A poll after the lifetime of a backchannel request gets expired_token, and a later approval is rejected", arguments: [nil, 1, 30])
    func expiry(seconds: Int?) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(Self.both)
            let desk = BackchannelClient(server)
            let response = try await desk.authorize(seconds.map { ["request_expiry": String($0)] } ?? [:])
            #expect(try response.json["expires_in"] == .integer(Int64(seconds ?? 300)))
            let request = try #require(try response.json["auth_req_id"]?.stringValue)
            let challenge = try await phone.challenge()
            server.clock.advance(by: Double(seconds ?? 300) - 0.5)
            try expectRefusal(try await desk.poll(request), 400, "authorization_pending")
            server.clock.advance(by: 0.5)
            try expectRefusal(try await desk.poll(request), 400, "expired_token")
            #expect(try await phone.answer(challenge, .approve).status == 400)
            #expect(try await phone.waiting().isEmpty)
        }
    }

    @Test("A backchannel request is valid only for its authenticated client at its authorization server")
    func bounds() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(Self.both)
            let desk = BackchannelClient(server)
            let request = try await desk.begin()
            try await phone.approve()
            try expectRefusal(try await BackchannelClient(server, .strictDesk).poll(request), 400, "invalid_grant")
            try expectRefusal(try await BackchannelClient(server, base: DirectClient.org).poll(request), 400, "invalid_grant")
            try expectRefusal(try await BackchannelClient(server, .silentDesk).poll(request), 401, "invalid_client")
            try expectRefusal(try await BackchannelClient(server, .wrongSecret).poll(request), 401, "invalid_client")
            try expectRefusal(try await BackchannelClient(server, .publicDesk).poll(request), 400, "unauthorized_client")
            try expectRefusal(try await BackchannelClient(server, .muteDesk).poll(request), 400, "unauthorized_client")
            try expectRefusal(try await desk.poll(""), 400, "invalid_request")
            try expectRefusal(try await desk.poll("ft_unknown"), 400, "invalid_grant")
            #expect(try await desk.poll(request).status == 200)
        }
    }

    @Test("A push sign-in poll rejects an auth_req_id, and a backchannel poll rejects the oob_code of a push sign-in")
    func kinds() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(Self.both)
            let desk = BackchannelClient(server)
            let request = try await desk.begin()
            let challenge = try await phone.challenge()
            // An answer with the transaction type of a sign-in is rejected.
            #expect(try await phone.answer(challenge, saying: "LOGIN").status == 400)
            let easy = DirectClient(server, id: "easy-app")
            try expectRefusal(try await easy.pollPrimary(request), 400, "invalid_grant")
            let code = try await easy.primaryCode()
            try expectRefusal(try await desk.poll(code), 400, "invalid_grant")
            #expect(try await phone.answer(challenge, .approve).status == 200)
            #expect(try await desk.poll(request).status == 200)
        }
    }

    @Test("Backchannel tokens have the scopes of the original request, not those of the poll")
    func scopes() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(Self.both)
            let desk = BackchannelClient(server)
            let request = try await desk.begin()
            try await phone.approve()
            #expect(try await desk.poll(request, ["scope": "openid messages.read offline_access"]).json["scope"] == "openid")
        }
    }

    @Test("A backchannel poll gets access_denied if the access policy does not allow the grant")
    func accessPolicy() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(Self.both)
            let desk = BackchannelClient(server, base: "/oauth2/closed/v1")
            let request = try await desk.begin()
            try await phone.approve()
            try expectRefusal(try await desk.poll(request), 400, "access_denied")
        }
    }

    @Test("A revoked backchannel request yields no tokens, and the device's approval is rejected")
    func revoked() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(Self.both)
            let desk = BackchannelClient(server)
            let request = try await desk.begin()
            let challenge = try await phone.challenge()
            let response = try await desk.post("revoke", ["token": request])
            #expect(response.status == 200 && response.body.isEmpty)
            #expect(try await phone.answer(challenge, .approve).status == 400)
            try expectRefusal(try await desk.poll(request), 400, "invalid_grant")
        }
    }
}
