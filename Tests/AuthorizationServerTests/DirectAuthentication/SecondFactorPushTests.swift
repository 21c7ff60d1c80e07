import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Push as the second factor")
struct SecondFactorPushTests {
    private static let secondFactor = JSONValue.string(PushOrganization.secondFactorOOB)
    static let bases = [DirectClient.custom, DirectClient.org]

    @Test(
        "If the policy requires two factors, a correct password returns 403 mfa_required with exactly four string members", arguments: bases
    )
    func multiFactorRequired(base: String) async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let response = try await DirectClient(server, base: base).password()
            #expect(response.status == 403)
            let body = try #require(try response.json.objectValue)
            #expect(Set(body.keys) == ["error", "error_description", "mfa_token", "supported_challenge_types"])
            #expect(body["error"] == "mfa_required")
            #expect(body["error_description"] == "Verify with an additional authenticator.")
            #expect(body["mfa_token"]?.stringValue?.isEmpty == false)
            #expect(body["supported_challenge_types"] == Self.secondFactor)
            expectProtocolHeaders(response)
        }
    }

    @Test("A push challenge returns its channel, lifetime and interval in the types that clients decode", arguments: bases)
    func challenge(base: String) async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let client = DirectClient(server, base: base)
            let response = try await client.challenge(try await client.mfaToken())
            #expect(response.status == 200)
            expectProtocolHeaders(response)
            var body = try #require(try response.json.objectValue)
            #expect(body.removeValue(forKey: "oob_code")?.stringValue?.isEmpty == false)
            #expect(
                body == [
                    "challenge_type": Self.secondFactor, "channel": "push", "binding_method": "none", "expires_in": 300, "interval": 5,
                ])
        }
    }

    @Test("A push challenge expires no later than its mfa_token")
    func remainingTime() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            server.clock.advance(by: 720)
            #expect(try await client.challenge(token).json["expires_in"] == 180)
        }
    }

    @Test("A password and an approved push return the tokens of a sign-in with two factors", arguments: bases)
    func signIn(base: String) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server, base: base)
            let scope = "openid profile email offline_access"
            let pending = try await client.begin(["scope": scope])
            // Clients poll at once after the challenge.
            try expectRefusal(try await client.poll(pending, ["scope": scope]), 400, "authorization_pending")
            try await phone.approve()
            server.clock.advance(by: 5)
            let response = try await client.poll(pending, ["scope": scope])
            expectProtocolHeaders(response)
            let tokens = try await IssuedTokens(response, keysFrom: base, server.wire)
            #expect(
                Set(tokens.body.keys) == ["token_type", "expires_in", "access_token", "scope", "refresh_token", "id_token"])
            #expect(tokens.body["token_type"] == "Bearer")
            #expect(tokens.body["expires_in"] == 3600)
            #expect(tokens.body["scope"] == .string(scope))

            let issuer = base == DirectClient.org ? RunningServer.origin : RunningServer.origin + "/oauth2/default"
            let id = tokens.idToken
            #expect(id["iss"] == .string(issuer))
            #expect(id["aud"] == "direct-app")
            #expect(id["sub"] == .string(phone.userID))
            #expect(id["amr"] == ["pwd", "okta_verify", "swk", "mfa"])
            #expect(id["iat"] == 1_800_000_005)
            #expect(id["exp"] == 1_800_003_605)
            // The auth_time is the time of the approval, not of the poll.
            #expect(id["auth_time"] == 1_800_000_000)
            #expect(id["acr"] == nil)
            #expect(id["nonce"] == nil)
            #expect(id["idp"]?.stringValue?.hasPrefix("00o") == true)

            let access = tokens.accessToken
            #expect(access["sub"] == .string(PushOrganization.jane))
            #expect(access["uid"] == .string(phone.userID))
            #expect(access["cid"] == "direct-app")
            #expect(access["aud"] == .string(base == DirectClient.org ? RunningServer.origin : "api://default"))
            #expect(access["auth_time"] == 1_800_000_000)
            #expect(access["scp"] == JSONValue(scope.split(separator: " ").map(String.init)))
        }
    }

    @Test("The claim auth_time is earlier than iat, even if the tokens are issued in the same second as the approval")
    func authenticationTime() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let pending = try await client.begin()
            try await phone.approve()
            let id = try await IssuedTokens(try await client.poll(pending), keysFrom: client.base, server.wire).idToken
            #expect(try #require(id["auth_time"]?.intValue) < #require(id["iat"]?.intValue))
        }
    }

    @Test(
        "The amr claim lists the methods of the approval for each authenticator kind",
        arguments: [
            (PushAuthenticator.Kind.oktaVerify, WirePhone.Answer.approve, ["pwd", "okta_verify", "swk", "mfa"]),
            (.customApp, .approve, ["pwd", "swk", "mfa"]),
            (.oktaVerify, .approveVerified, ["pwd", "okta_verify", "swk", "face", "mfa"]),
            (.customApp, .approveVerified, ["pwd", "swk", "face", "mfa"]),
        ])
    func methods(kind: PushAuthenticator.Kind, answer: WirePhone.Answer, expected: [String]) async throws {
        try await PushServer.with(PushOrganization(kind: kind)) { server in
            let phone = try await server.enroll(.init(verifiesUser: true))
            let client = DirectClient(server)
            let pending = try await client.begin()
            try await phone.approve(answer)
            let tokens = try await IssuedTokens(try await client.poll(pending), keysFrom: client.base, server.wire)
            #expect(tokens.idToken["amr"] == JSONValue(expected))
        }
    }

    @Test("The ID token and the access token have the requested acr, and a refreshed ID token keeps acr, auth_time and amr")
    func contextClass() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            // The client's policy requires one factor, but acr_values requires two factors.
            let client = DirectClient(server, id: "easy-app")
            let acr = "urn:okta:loa:2fa:any"
            let pending = try await client.begin(["acr_values": "unknown \(acr)", "scope": "openid offline_access"])
            try await phone.approve()
            let first = try await IssuedTokens(try await client.poll(pending), keysFrom: client.base, server.wire)
            #expect(first.idToken["acr"] == .string(acr))
            #expect(first.accessToken["acr"] == .string(acr))
            server.clock.advance(by: 1000)
            let refreshed = try await IssuedTokens(
                try await client.post(
                    "token", ["grant_type": "refresh_token", "refresh_token": try #require(first.body["refresh_token"]?.stringValue)]),
                keysFrom: client.base, server.wire)
            for name in ["acr", "auth_time", "amr", "sub"] { #expect(refreshed.idToken[name] == first.idToken[name]) }
            #expect(refreshed.idToken["nonce"] == nil)
        }
    }

    @Test("The tokens of a push sign-in have the scopes of the password request, and the poll cannot add scopes")
    func scopes() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let pending = try await client.begin(["scope": "openid"])
            try await phone.approve()
            let response = try await client.poll(pending, ["scope": "openid messages.read offline_access"])
            #expect(try response.json["scope"] == "openid")
            #expect(try response.json["refresh_token"] == nil)
        }
    }

    @Test("The server ignores additional parameters that the official client sends with every request of a push sign-in")
    func additionalParameters() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let all =
                "password \(PushOrganization.oob) urn:okta:params:oauth:grant-type:otp \(PushOrganization.secondFactorOOB) "
                + "http://auth0.com/oauth/grant-type/mfa-otp urn:okta:params:oauth:grant-type:webauthn urn:okta:params:oauth:grant-type:mfa-webauthn"
            let additional = [
                "redirect_uri": "com.example.direct:/callback", "scope": "openid", "grant_types_supported": all, "custom": "a value",
            ]
            let client = DirectClient(server, additional: additional)
            let pending = try await client.begin()
            try expectRefusal(try await client.poll(pending), 400, "authorization_pending")
            try await phone.approve()
            #expect(try await client.poll(pending).status == 200)
        }
    }

    @Test("A confidential client signs in with its secret in the body, and a poll without the secret is rejected")
    func confidentialClient() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server, id: "back-end", additional: ["client_secret": "back-end-secret-01234"])
            let stranger = DirectClient(server, id: "back-end")
            let pending = try await client.begin()
            try await phone.approve()
            try expectRefusal(try await stranger.poll(pending), 401, "invalid_client")
            #expect(try await client.poll(pending).status == 200)
        }
    }

    @Test("A client that cannot use any second factor of the user gets access_denied instead of mfa_required")
    func impossible() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let client = DirectClient(server)
            try expectRefusal(
                try await client.password(["grant_types_supported": "password http://auth0.com/oauth/grant-type/mfa-otp"]), 400,
                "access_denied")
            // The grant is not enabled for this client.
            try expectRefusal(try await DirectClient(server, id: "password-app").password(), 400, "access_denied")
        }
    }

    @Test(
        "A user without a second factor gets access_denied if the policy requires two factors, or unmet_authentication_requirements if acr_values require two"
    )
    func noDevice() async throws {
        try await PushServer.with { server in
            try expectRefusal(try await DirectClient(server).password(), 400, "access_denied")
            try expectRefusal(
                try await DirectClient(server, id: "easy-app").password(["acr_values": "urn:okta:loa:2fa:any"]), 400,
                "unmet_authentication_requirements")
        }
    }

    @Test("An mfa_token that an attacker obtained with a stolen password gets no tokens with any grant")
    func passwordAlone() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            // The phone has not answered.
            for form in [
                ["grant_type": PushOrganization.secondFactorOOB, "mfa_token": token, "oob_code": token],
                ["grant_type": PushOrganization.oob, "oob_code": token, "scope": "openid"],
                ["grant_type": "refresh_token", "refresh_token": token],
            ] {
                try expectRefusal(try await client.post("token", form), 400, "invalid_grant")
            }
        }
    }
}
