import Delivery
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Documentation/Protocol/Authn.md §3.3, §4.7, §4.8, §4.13 and §4.14 in raw requests.
@Suite("Second factors in the classic API")
struct FactorChallengeTests {
    private static let organization = PushOrganization(classic: ClassicPolicy(signOnPolicy: "two factors"))

    private static func with(_ body: @Sendable (ClassicClient, PushServer) async throws -> Void) async throws {
        try await PushServer.with(organization) { server in try await body(ClassicClient(server), server) }
    }

    @Test("MFA_REQUIRED lists the authenticator app with its links, and a valid code completes the sign-in")
    func directCode() async throws {
        try await Self.with { client, server in
            let app = try await client.app()
            let status = try await client.begin(["relayState": "r"])
            let user = try #require(try await server.engine.user(login: PushOrganization.jane))
            let post: JSONValue = ["allow": ["POST"]]
            #expect(
                status.json == [
                    "status": "MFA_REQUIRED", "stateToken": .string(try #require(status.token)), "expiresAt": "2027-01-15T08:05:00.000Z",
                    "relayState": "r",
                    "_embedded": [
                        "user": [
                            "id": .string(user.id), "passwordChanged": "2027-01-15T08:00:00.000Z",
                            "profile": [
                                "login": "jane.doe@example.com", "firstName": "Jane", "lastName": "Doe", "locale": "en", "timeZone": "UTC",
                            ],
                        ],
                        "factors": [
                            [
                                "id": .string(app.id), "factorType": "token:software:totp", "provider": "GOOGLE", "vendorName": "GOOGLE",
                                "profile": ["credentialId": "jane.doe@example.com"],
                                "_links": [
                                    "verify": ["href": .string(ClassicClient.base + "/factors/\(app.id)/verify"), "hints": post]
                                ],
                            ]
                        ],
                        "policy": [
                            "allowRememberDevice": false, "rememberDeviceByDefault": false, "rememberDeviceLifetimeInMinutes": 0,
                            "factorsPolicyInfo": nil,
                        ],
                    ], "_links": ["cancel": ["href": .string(ClassicClient.base + "/cancel"), "hints": post]],
                ])
            let verify = try status.factor("token:software:totp")["_links"]?["verify"]
            let done = try ClassicStatus(try await client.follow(verify, of: status, ["passCode": .string(app.code())], query: "?"))
            #expect(done.name == "SUCCESS")
            #expect(done.json["relayState"] == "r")
            #expect(done.token == nil && done.linkNames == [])
            // The state token is invalid now, and the session token proves both factors.
            try expectClassicRefusal(try await client.follow(verify, of: status), 401, "E0000011")
            let party = WireRelyingParty.browserApp
            let token = try #require(done.json["sessionToken"]?.stringValue)
            _ = try party.code(try await WireBrowser(server.wire).get(party.authorizeURL(["sessionToken": token, "prompt": "none"])))
        }
    }

    @Test("Wrong, used and expired authenticator app codes return three different error codes and leave the sign-in state unchanged")
    func challengedCode() async throws {
        try await Self.with { client, server in
            let app = try await client.app()
            let status = try await client.begin()
            let asked = try ClassicStatus(try await client.follow(status.factor("token:software:totp")["_links"]?["verify"], of: status))
            #expect(asked.name == "MFA_CHALLENGE")
            #expect(asked.token == status.token)
            #expect(asked.linkNames == ["cancel", "next(verify)", "prev"])
            #expect(asked.embeddedNames == ["factor", "policy", "user"])
            #expect(asked.json["factorResult"] == nil)
            let causes = try expectClassicRefusal(
                try await client.follow(asked.next, of: asked, ["passCode": .string(app.wrongCode)]), 403, "E0000068", causes: 1)
            #expect(causes.first?.isEmpty == false)
            try expectClassicRefusal(
                try await client.follow(asked.next, of: asked, ["passCode": .string(app.code(after: -5))]), 403, "E0000083", causes: 1)
            // The error does not reveal that the code will be valid later.
            try expectClassicRefusal(
                try await client.follow(asked.next, of: asked, ["passCode": .string(app.code(after: 5))]), 403, "E0000068", causes: 1)
            let code = app.code()
            #expect(try ClassicStatus(try await client.follow(asked.next, of: asked, ["passCode": .string(code)])).name == "SUCCESS")
            let again = try await client.begin()
            try expectClassicRefusal(
                try await client.follow(again.factor("token:software:totp")["_links"]?["verify"], of: again, ["passCode": .string(code)]),
                403, "E0000082", causes: 1)
            #expect(try ClassicStatus(try await client.post("", ["stateToken": .string(try #require(again.token))])).name == "MFA_REQUIRED")
        }
    }

    @Test("Five wrong authenticator app codes lock the account and invalidate all pending sign-ins of the user")
    func locked() async throws {
        try await Self.with { client, server in
            let app = try await client.app()
            let other = try await client.begin()
            let status = try await client.begin()
            let verify = try status.factor("token:software:totp")["_links"]?["verify"]
            for _ in 0..<4 {
                try expectClassicRefusal(
                    try await client.follow(verify, of: status, ["passCode": .string(app.wrongCode)]), 403, "E0000068", causes: 1)
            }
            try expectClassicRefusal(try await client.follow(verify, of: status, ["passCode": .string(app.wrongCode)]), 403, "E0000069")
            try expectClassicRefusal(try await client.follow(verify, of: status, ["passCode": .string(app.code())]), 401, "E0000011")
            try expectClassicRefusal(try await client.signIn(), 401, "E0000004")
            // The lock also ends a sign-in that began earlier.
            try expectClassicRefusal(try await client.follow(verify, of: other, ["passCode": .string(app.code())]), 401, "E0000011")
            #expect(try await server.logged("user.account.lock") == 1)
        }
    }

    @Test("A push is sent once however often the client polls, and its approval completes the sign-in")
    func push() async throws {
        try await Self.with { client, server in
            let phone = try await server.enroll()
            let status = try await client.begin()
            let factor = try status.factor("push")
            #expect(factor["id"] == .string(phone.methodID))
            #expect(
                factor["profile"] == [
                    "credentialId": "jane.doe@example.com", "deviceType": "SmartPhone_IPhone", "name": "Wire phone", "platform": "IOS",
                    "version": "17.4.0",
                ])
            let waiting = try ClassicStatus(try await client.follow(factor["_links"]?["verify"], of: status))
            #expect(waiting.name == "MFA_CHALLENGE")
            #expect(waiting.json["factorResult"] == "WAITING")
            #expect(waiting.linkNames == ["cancel", "next(poll)", "prev", "resend(push)"])
            #expect(waiting.links["resend"]?.arrayValue?.count == 1)
            #expect(waiting.next?["href"] == factor["_links"]?["verify"]?["href"])
            #expect(await server.pushes.next()?.deviceToken == "00ff12ab")
            // The same request now polls and sends no further push.
            for _ in 0..<3 {
                #expect(try ClassicStatus(try await client.follow(waiting.next, of: status)).json["factorResult"] == "WAITING")
            }
            #expect(try await phone.waiting().count == 1)
            try await phone.approve()
            let done = try ClassicStatus(try await client.follow(waiting.next, of: status))
            #expect(done.name == "SUCCESS")
            let party = WireRelyingParty.browserApp
            let token = try #require(done.json["sessionToken"]?.stringValue)
            _ = try party.code(try await WireBrowser(server.wire).get(party.authorizeURL(["sessionToken": token, "prompt": "none"])))
        }
    }

    @Test("A denied push is reported as REJECTED, an unanswered push as TIMEOUT, and the next verify request sends a new push")
    func rejected() async throws {
        try await Self.with { client, server in
            let phone = try await server.enroll()
            let status = try await client.begin()
            let verify = try status.factor("push")["_links"]?["verify"]
            _ = try ClassicStatus(try await client.follow(verify, of: status))
            try await phone.deny()
            let rejected = try ClassicStatus(try await client.follow(verify, of: status))
            #expect(rejected.json["factorResult"] == "REJECTED")
            #expect(rejected.linkNames == ["cancel", "next(verify)", "prev", "resend(push)"])
            let shown = try ClassicStatus(try await client.post("", ["stateToken": .string(try #require(status.token))]))
            #expect(shown.json["factorResult"] == "REJECTED")
            #expect(try ClassicStatus(try await client.follow(rejected.next, of: rejected)).json["factorResult"] == "WAITING")
            #expect(try await phone.waiting().count == 1)
            for _ in 0..<4 {
                server.clock.advance(by: 80)
                _ = try await client.post("", ["stateToken": .string(try #require(status.token))])
            }
            let late = try ClassicStatus(try await client.follow(verify, of: status))
            #expect(late.json["factorResult"] == "TIMEOUT")
            #expect(late.linkNames == ["cancel", "next(verify)", "prev", "resend(push)"])
            #expect(try ClassicStatus(try await client.follow(late.next, of: late)).json["factorResult"] == "WAITING")
            try await phone.approve()
            #expect(try ClassicStatus(try await client.follow(late.next, of: late)).name == "SUCCESS")
        }
    }

    @Test("When the user reports a push as suspicious, the classic API rejects every further factor in that sign-in")
    func suspicious() async throws {
        try await Self.with { client, server in
            let phone = try await server.enroll()
            let status = try await client.begin()
            let verify = try status.factor("push")["_links"]?["verify"]
            _ = try ClassicStatus(try await client.follow(verify, of: status))
            let app = try await client.app()
            #expect(try await phone.answer(try await phone.challenge(), .report).status == 204)
            #expect(try ClassicStatus(try await client.follow(verify, of: status)).json["factorResult"] == "REJECTED")
            try expectClassicRefusal(
                try await client.post(
                    "/factors/\(app.id)/verify", ["stateToken": .string(try #require(status.token)), "passCode": .string(app.code())]), 401,
                "E0000011")
            try expectClassicRefusal(try await client.follow(verify, of: status), 401, "E0000011")
            #expect(try await server.logged("user.account.report_suspicious_activity") == 1)
        }
    }

    @Test(
        "A resend request replaces a push challenge that is at least ten seconds old, and the sixth challenge in five minutes is rejected")
    func resend() async throws {
        try await Self.with { client, server in
            let phone = try await server.enroll()
            let status = try await client.begin()
            let resendHref: JSONValue = ["href": .string(ClassicClient.base + "/factors/\(phone.methodID)/verify/resend")]
            try expectClassicRefusal(try await client.follow(resendHref, of: status), 403, "E0000079", causes: 1)
            let waiting = try ClassicStatus(try await client.follow(status.factor("push")["_links"]?["verify"], of: status))
            let first = try await phone.challenge()
            let resend = waiting.links["resend"]?[0]
            // A challenge that was just sent stays valid, because the user may be reading it.
            #expect(try ClassicStatus(try await client.follow(resend, of: waiting)).json["factorResult"] == "WAITING")
            #expect(try await phone.challenge().token == first.token)
            server.clock.advance(by: 10)
            #expect(try ClassicStatus(try await client.follow(resend, of: waiting)).json["factorResult"] == "WAITING")
            #expect(try await phone.answer(first).status == 400)
            #expect(try await phone.challenge().token != first.token)
            for _ in 0..<3 {
                server.clock.advance(by: 10)
                _ = try ClassicStatus(try await client.follow(resend, of: waiting))
            }
            server.clock.advance(by: 10)
            let response = try await client.follow(resend, of: waiting)
            try expectClassicRefusal(response, 429, "E0000047")
            // Each challenge counts for 300 seconds; the first one was sent 50 seconds ago.
            #expect(response["Retry-After"] == "250")
        }
    }

    @Test("A number challenge shows the client the number, and the sign-in succeeds when the user picks it")
    func number() async throws {
        try await PushServer.with(PushOrganization(numberChallenge: .always, classic: ClassicPolicy(signOnPolicy: "two factors"))) {
            server in
            let client = ClassicClient(server)
            let phone = try await server.enroll(.init(answersNumbers: true))
            let status = try await client.begin()
            let waiting = try ClassicStatus(try await client.follow(status.factor("push")["_links"]?["verify"], of: status))
            let number = try #require(waiting.embedded["factor"]?["_embedded"]?["challenge"]?["correctAnswer"]?.intValue)
            try await phone.approve(.pick(String(number)))
            #expect(try ClassicStatus(try await client.follow(waiting.next, of: waiting)).name == "SUCCESS")
        }
    }

    @Test("Going back or choosing another factor withdraws the push challenge from the phone")
    func previous() async throws {
        try await Self.with { client, server in
            let phone = try await server.enroll()
            let app = try await client.app()
            let status = try await client.begin()
            try expectClassicRefusal(
                try await client.post("/previous", ["stateToken": .string(try #require(status.token))]), 403, "E0000079", causes: 1)
            let waiting = try ClassicStatus(try await client.follow(status.factor("push")["_links"]?["verify"], of: status))
            let challenge = try await phone.challenge()
            let back = try ClassicStatus(try await client.follow(waiting.links["prev"], of: waiting))
            #expect(back.json == status.json)
            #expect(try await phone.answer(challenge).status == 400)
            #expect(try await phone.waiting().isEmpty)
            _ = try ClassicStatus(try await client.follow(status.factor("push")["_links"]?["verify"], of: status))
            #expect(try await phone.waiting().count == 1)
            let other = try ClassicStatus(try await client.follow(status.factor("token:software:totp")["_links"]?["verify"], of: status))
            #expect(other.embedded["factor"]?["id"] == .string(app.id))
            #expect(try await phone.waiting().isEmpty)
            #expect(try ClassicStatus(try await client.follow(other.next, of: other, ["passCode": .string(app.code())])).name == "SUCCESS")
        }
    }

    @Test("Cancelling a sign-in invalidates its state token, and a later push approval is rejected")
    func cancel() async throws {
        try await Self.with { client, server in
            let phone = try await server.enroll()
            let status = try await client.begin(["relayState": "back"])
            let waiting = try ClassicStatus(try await client.follow(status.factor("push")["_links"]?["verify"], of: status))
            let challenge = try await phone.challenge()
            // The client cancels with the link and the token of an earlier state.
            let cancelled = try await client.follow(status.links["cancel"], of: status)
            #expect(cancelled.status == 200)
            #expect(try cancelled.json == ["relayState": "back"])
            #expect(try await phone.answer(challenge).status == 400)
            try expectClassicRefusal(try await client.follow(waiting.next, of: waiting), 401, "E0000011")
            try expectClassicRefusal(try await client.follow(status.links["cancel"], of: status), 401, "E0000011")
            let other = try await client.begin()
            #expect(try await client.follow(other.links["cancel"], of: other).json == [:])
        }
    }

    @Test("A state token expires five minutes after its last use, and at the latest after an hour")
    func lifetime() async throws {
        try await Self.with { client, server in
            _ = try await client.app()
            let status = try await client.begin()
            let token: JSONValue = ["stateToken": .string(try #require(status.token))]
            server.clock.advance(by: 240)
            #expect(try ClassicStatus(try await client.post("", token)).json["expiresAt"] == "2027-01-15T08:09:00.000Z")
            server.clock.advance(by: 300)
            try expectClassicRefusal(try await client.post("", token), 401, "E0000011")
            let other = try await client.begin()
            let kept: JSONValue = ["stateToken": .string(try #require(other.token))]
            for _ in 0..<14 {
                server.clock.advance(by: 250)
                _ = try ClassicStatus(try await client.post("", kept))
            }
            server.clock.advance(by: 101)
            try expectClassicRefusal(try await client.post("", kept), 401, "E0000011")
        }
    }

    @Test("A classic sign-in rejects another user's factor, another user's codes, and an MFA token of direct authentication")
    func foreign() async throws {
        try await Self.with { client, server in
            let janes = try await client.app()
            let johns = try await client.app(PushOrganization.john)
            let jane = try await client.begin()
            let john = try ClassicStatus(try await client.signIn(PushOrganization.john, PushOrganization.johnsPassword))
            let path = "/factors/\(johns.id)/verify"
            try expectClassicRefusal(
                try await client.post(path, ["stateToken": .string(try #require(jane.token)), "passCode": .string(johns.code())]), 404,
                "E0000007")
            try expectClassicRefusal(
                try await client.post(path, ["stateToken": .string(try #require(john.token)), "passCode": .string(janes.code())]), 403,
                "E0000068", causes: 1)
            try expectClassicRefusal(try await client.post(path, ["stateToken": "00unknown", "passCode": "123456"]), 401, "E0000011")
            try expectClassicRefusal(try await client.post(path, ["passCode": "123456"]), 400, "E0000001", causes: 1)
            // A token of direct authentication is not valid in this API.
            let mfa = try await DirectClient(server).mfaToken()
            try expectClassicRefusal(try await client.post(path, ["stateToken": .string(mfa)]), 401, "E0000011")
        }
    }

    @Test("Setting a user's password ends the user's pending sign-in")
    func account() async throws {
        try await Self.with { client, server in
            let app = try await client.app()
            let status = try await client.begin()
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let context = RequestContext(now: server.clock.now, requestID: "test")
            _ = try await server.engine.setPassword(userID: id, to: "Another-Horse-8", context: context)
            let verify = try status.factor("token:software:totp")["_links"]?["verify"]
            try expectClassicRefusal(try await client.follow(verify, of: status, ["passCode": .string(app.code())]), 401, "E0000011")
        }
    }
}
