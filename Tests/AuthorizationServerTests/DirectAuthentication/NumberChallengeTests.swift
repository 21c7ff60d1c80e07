import IdentityCore
import JOSE
import Testing

@Suite("Number challenges")
struct NumberChallengeTests {
    private static let always = PushOrganization(numberChallenge: .always)

    @Test("A number challenge returns a two-digit binding_code, and the phone gets three numbers that include the binding_code")
    func transfer() async throws {
        try await PushServer.with(Self.always) { server in
            let phone = try await server.enroll(.init(answersNumbers: true))
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            var body = try #require(try await client.challenge(token).json.objectValue)
            let code = try #require(body.removeValue(forKey: "oob_code")?.stringValue)
            let number = try #require(body.removeValue(forKey: "binding_code")?.stringValue)
            #expect(
                body == [
                    "challenge_type": .string(PushOrganization.secondFactorOOB), "channel": "push", "binding_method": "transfer",
                    "expires_in": 300, "interval": 5,
                ])
            #expect(number.count == 2 && Int(number).map { (10...99).contains($0) } == true)
            let choices = try #require(try await phone.challenge().context["numberChoices"]?.stringArrayValue)
            #expect(Set(choices).count == 3 && choices.count == 3)
            #expect(choices.contains(number))

            let pending = DirectClient.Pending(mfaToken: token, oobCode: code)
            try expectRefusal(try await client.poll(pending), 400, "authorization_pending")
            try await phone.approve(.pick(number))
            // Clients need not send the number to the token endpoint, which ignores it.
            let tokens = try await IssuedTokens(
                try await client.poll(pending, ["binding_code": number]), keysFrom: client.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "okta_verify", "swk", "mfa"])
        }
    }

    @Test("A push as the first factor includes a number challenge if the policy requires one")
    func primary() async throws {
        try await PushServer.with(Self.always) { server in
            let phone = try await server.enroll(.init(answersNumbers: true))
            let client = DirectClient(server, id: "easy-app")
            let body = try await client.primary().json
            #expect(body["binding_method"] == "transfer")
            try await phone.approve(.pick(try #require(body["binding_code"]?.stringValue)))
            #expect(try await client.pollPrimary(try #require(body["oob_code"]?.stringValue)).status == 200)
        }
    }

    @Test("If the user picks a wrong number, the sign-in is denied, and the correct number is rejected afterwards")
    func wrongNumber() async throws {
        try await PushServer.with(Self.always) { server in
            let phone = try await server.enroll(.init(answersNumbers: true))
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            let body = try await client.challenge(token).json
            let right = try #require(body["binding_code"]?.stringValue)
            let challenge = try await phone.challenge()
            let choices = try #require(challenge.context["numberChoices"]?.stringArrayValue)
            let wrong = try #require(choices.first { $0 != right })
            #expect(try await phone.answer(challenge, .pick(wrong)).status == 400)
            // The user cannot pick a second time.
            #expect(try await phone.answer(challenge, .pick(right)).status == 400)
            let pending = DirectClient.Pending(mfaToken: token, oobCode: try #require(body["oob_code"]?.stringValue))
            try expectRefusal(try await client.poll(pending), 400, "access_denied")
        }
    }

    @Test("An approval that omits the number of a number challenge is rejected, and the challenge stays pending")
    func noNumber() async throws {
        try await PushServer.with(Self.always) { server in
            let phone = try await server.enroll(.init(answersNumbers: true))
            let client = DirectClient(server)
            let pending = try await client.begin()
            #expect(try await phone.answer(try await phone.challenge(), .approve).status == 400)
            try expectRefusal(try await client.poll(pending), 400, "authorization_pending")
        }
    }

    @Test("If the policy requires a number challenge, a phone that does not support number challenges gets no challenge")
    func incapablePhone() async throws {
        try await PushServer.with(Self.always) { server in
            let phone = try await server.enroll(.init(answersNumbers: false))
            let client = DirectClient(server)
            try expectRefusal(try await client.challenge(try await client.mfaToken()), 403, "access_denied")
            try expectRefusal(try await DirectClient(server, id: "easy-app").primary(), 403, "access_denied")
            #expect(try await phone.waiting().isEmpty)
        }
    }

    @Test("If only risky sign-ins require a number challenge, a new address gets a number challenge and a known address gets none")
    func risky() async throws {
        try await PushServer.with(PushOrganization(numberChallenge: .risky)) { server in
            let phone = try await server.enroll(.init(answersNumbers: true))
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            let body = try await client.challenge(token).json
            #expect(body["binding_method"] == "transfer")
            try await phone.approve(.pick(try #require(body["binding_code"]?.stringValue)))
            let pending = DirectClient.Pending(mfaToken: token, oobCode: try #require(body["oob_code"]?.stringValue))
            #expect(try await client.poll(pending).status == 200)

            let again = try await client.challenge(try await client.mfaToken()).json
            #expect(again["binding_method"] == "none")
            #expect(again["binding_code"] == nil)
        }
    }
}
