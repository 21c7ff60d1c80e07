import Delivery
import Foundation
import JOSE
import TestSupport
import Testing

@Suite("Push delivery of challenges")
struct PushDeliveryTests {
    private static func challenge(in push: PushNotification) throws -> WirePhone.Challenge {
        try WirePhone.Challenge(try #require(try JSONValue(parsing: push.payload)["challenge"]?.stringValue))
    }

    @Test("A push is sent to the enrolled push token in the token's APNs environment, and expires at the same time as the challenge")
    func address() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll(.init(pushToken: "00FF12AB", environment: "DEVELOPMENT"))
            _ = try await DirectClient(server).begin()
            let push = try #require(await server.pushes.next())
            #expect(push.deviceToken == "00ff12ab")
            #expect(push.environment == .development)
            #expect(push.topic == "com.example.phone.debug")
            #expect(push.pushType == .alert)
            #expect(push.priority == .immediate)
            #expect(push.expiresAt == Date(timeIntervalSince1970: 1_800_000_300))
            #expect(UUID(uuidString: push.id) != nil)
            #expect(push.credentials.teamID == "TEAM012345" && push.credentials.keyID == "KEY0123456")
            #expect(push.collapseID.map { $0.utf8.count <= 64 } == true)
        }
    }

    @Test("A push payload has a visible alert and the two members that the devices SDK reads, in at most 4,096 bytes")
    func payload() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            _ = try await DirectClient(server).begin()
            let push = try #require(await server.pushes.next())
            #expect(push.topic == "com.example.phone" && push.environment == .production)
            #expect(push.payload.count <= 4_096)
            let payload = try #require(try JSONValue(parsing: push.payload).objectValue)
            #expect(Set(payload.keys) == ["aps", "payloadVersion", "challenge"])
            #expect(payload["payloadVersion"] == "IDXv1")
            #expect(
                payload["aps"] == [
                    "alert": ["title": "Wire tests", "body": "Did you just try to sign in to Direct app?"],
                    "category": "OKTA_PUSH_CHALLENGE", "sound": "default", "interruption-level": "time-sensitive",
                ])
            // The pushed challenge is the pending one.
            #expect(payload["challenge"] == .string(try await phone.challenge().token))
        }
    }

    @Test("A phone with a user verification key gets the push category that opens the app")
    func category() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll(.init(verifiesUser: true))
            _ = try await DirectClient(server).begin()
            let push = try #require(await server.pushes.next())
            #expect(try JSONValue(parsing: push.payload)["aps"]?["category"] == "OKTA_PUSH_UV_CHALLENGE")
            #expect(try Self.challenge(in: push).claims["userVerification"] == "PREFERRED")
        }
    }

    @Test("A push challenge names the client, user, place and time, and is signed with a published key")
    func challenge() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            _ = try await server.wire.post(
                "\(client.base)/challenge",
                Form.encode([
                    "client_id": client.id, "mfa_token": token, "challenge_types_supported": PushOrganization.secondFactorOOB,
                    "channel_hint": "push",
                ]),
                headers: [("User-Agent", "okta-authfoundation-swift/2.1.4 okta-directauth-swift/2.1.4 iOS/17.4.0 Device/iPhone15,2")])
            let challenge = try Self.challenge(in: try #require(await server.pushes.next()))

            #expect(challenge.header["typ"] == "okta-pushbind+jwt")
            #expect(challenge.header["alg"] == "RS256")
            let keys = try JSONWebKeySet(try await server.wire.get("/oauth2/v1/keys").json)
            let key = try #require(keys.keys.first { $0.keyID == challenge.header["kid"]?.stringValue })
            try JSONWebSignature(parsing: challenge.token).verify(with: VerificationKey(key, algorithm: .rs256))

            let claims = challenge.claims
            let id = try #require(claims["transactionId"]?.stringValue)
            #expect(claims["iss"] == .string(RunningServer.origin))
            #expect(claims["aud"] == "direct-app")
            #expect(claims["appInstanceName"] == "Direct app")
            #expect(claims["userId"] == .string(phone.userID))
            #expect(claims["iat"] == 1_800_000_000)
            #expect(claims["exp"] == 1_800_000_300)
            #expect(claims["jti"] == .string(id))
            #expect(claims["method"] == "push")
            #expect(claims["ver"] == 0)
            #expect(claims["authenticatorEnrollmentId"] == .string(phone.enrollmentID))
            #expect(claims["methodEnrollmentId"] == .string(phone.methodID))
            #expect(claims["userVerification"] == "DISCOURAGED")
            #expect(claims["userMediation"] == "REQUIRED")
            #expect(claims["nonce"]?.stringValue?.isEmpty == false)
            #expect(
                claims["verificationUri"]
                    == .string("\(RunningServer.origin)/idp/myaccount/app-authenticators/challenge/\(id)/verify"))
            #expect(claims["authorizationServerId"] == nil)
            let organization = try await server.wire.get("/.well-known/okta-organization").json
            #expect(claims["orgId"] == organization["id"])
            #expect(
                challenge.context == [
                    "transactionType": "LOGIN", "clientOS": "IOS", "clientLocation": "127.0.0.1",
                    "transactionTime": "2027-01-15T08:00:00.000Z",
                ])
        }
    }

    @Test("Each of a user's two phones gets its own challenge, and the first answer decides the sign-in")
    func twoPhones() async throws {
        try await PushServer.with { server in
            let first = try await server.enroll(.init(pushToken: "aa"))
            let second = try await server.enroll(.init(pushToken: "bb"), besides: first)
            #expect(await server.pushes.next()?.deviceToken == "aa")
            let client = DirectClient(server)
            let pending = try await client.begin()
            let pushed = [try #require(await server.pushes.next()), try #require(await server.pushes.next())]
            #expect(Set(pushed.map(\.deviceToken)) == ["aa", "bb"])
            let (one, other) = (try await first.challenge(), try await second.challenge())
            #expect(Set(try pushed.map { try Self.challenge(in: $0).token }) == [one.token, other.token])
            for name in ["transactionId", "nonce", "verificationUri", "authenticatorEnrollmentId", "methodEnrollmentId"] {
                #expect(one.claims[name] != other.claims[name], "\(name)")
            }
            // Neither phone can answer for the other.
            #expect(try await first.answer(other).status == 400)
            #expect(try await second.answer(other, .deny).status == 204)
            #expect(try await first.waiting().isEmpty)
            #expect(try await first.answer(one).status == 400)
            try expectRefusal(try await client.poll(pending), 400, "access_denied")

            // This time the first phone answers first.
            let again = try await client.begin()
            let late = try await second.challenge()
            #expect(try await first.answer(try await first.challenge()).status == 200)
            #expect(try await second.answer(late, .deny).status == 400)
            #expect(try await client.poll(again).status == 200)
        }
    }

    @Test("A phone without a push token gets no push, and can still fetch and approve the challenge")
    func noPushToken() async throws {
        try await PushServer.with { server in
            let quiet = try await server.enroll(.init(pushToken: ""))
            _ = try await server.enroll(
                .init(pushToken: "ab12"), login: PushOrganization.john, password: PushOrganization.johnsPassword)
            let client = DirectClient(server)
            let pending = try await client.begin()
            // John's push is sent after Jane's would have been.
            _ = try await client.begin(["username": PushOrganization.john, "password": PushOrganization.johnsPassword])
            #expect(await server.pushes.next()?.deviceToken == "ab12")
            #expect(server.pushes.sent.count == 1)
            try await quiet.approve()
            #expect(try await client.poll(pending).status == 200)
        }
    }

    @Test("A challenge whose push cannot be delivered can still be fetched and approved")
    func undelivered() async throws {
        try await PushServer.with { server in
            server.pushes.answer(.gaveUp(reason: "no connection"))
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let pending = try await client.begin()
            _ = await server.pushes.next()
            try await phone.approve()
            #expect(try await client.poll(pending).status == 200)
            // The server sends the next push nevertheless.
            _ = try await client.begin()
            #expect(await server.pushes.next() != nil)
        }
    }

    @Test("A dead push token gets no more pushes, its challenges stay pending, and a new push token of the phone gets pushes")
    func deadToken() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(.init(pushToken: "dead"))
            _ = try await server.enroll(
                .init(pushToken: "ab12"), login: PushOrganization.john, password: PushOrganization.johnsPassword)
            let client = DirectClient(server)
            server.pushes.answer(.tokenDead(since: server.clock.now.addingTimeInterval(1)))
            _ = try await client.begin()
            #expect(await server.pushes.next()?.deviceToken == "dead")
            try await waitUntil { try await server.logged("device.push_token.died") == 1 }
            server.pushes.answer(.delivered(id: ""))

            let pending = try await client.begin()
            _ = try await client.begin(["username": PushOrganization.john, "password": PushOrganization.johnsPassword])
            #expect(await server.pushes.next()?.deviceToken == "ab12")
            #expect(server.pushes.sent.map(\.deviceToken) == ["dead", "ab12"])
            #expect(try await phone.waiting().count == 2)
            _ = try await client.revoke(pending.oobCode)

            #expect(try await phone.replacePushToken("beef").status == 200)
            _ = try await client.begin()
            #expect(await server.pushes.next()?.deviceToken == "beef")
        }
    }

    @Test("A push token that was registered after the time at which the push service reports it dead stays in use")
    func olderDeath() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll(.init(pushToken: "dead"))
            let client = DirectClient(server)
            server.pushes.answer(.tokenDead(since: server.clock.now.addingTimeInterval(-1)))
            for _ in 0..<3 {
                _ = try await client.begin()
                #expect(await server.pushes.next()?.deviceToken == "dead")
            }
            #expect(try await server.logged("device.push_token.died") == 0)
        }
    }

    /// Waits for work that follows a response. The number of attempts is limited, so that a failing test ends.
    private func waitUntil(_ condition: () async throws -> Bool) async throws {
        for _ in 0..<10_000 {
            if try await condition() { return }
            await Task.yield()
        }
        Issue.record("It did not happen.")
    }
}
