import JOSE
import TestSupport
import Testing

@Suite("Push polling at the token endpoint")
struct PollingTests {
    /// A push that a client polls for, as the first or the second factor.
    struct Wait: Sendable, CustomTestStringConvertible {
        var isFirstFactor: Bool
        var testDescription: String { isFirstFactor ? "first factor" : "second factor" }

        func begin(_ server: PushServer) async throws -> @Sendable () async throws -> WireResponse {
            let client = DirectClient(server, id: "easy-app")
            if isFirstFactor {
                let code = try await client.primaryCode()
                return { try await client.pollPrimary(code) }
            }
            let pending = try await client.begin(["acr_values": "urn:okta:loa:2fa:any"])
            return { try await client.poll(pending) }
        }
    }

    static let waits = [Wait(isFirstFactor: true), Wait(isFirstFactor: false)]

    @Test(
        "A push poll after the interval gets authorization_pending, an earlier push poll gets slow_down, and the sign-in stays pending in both cases",
        .onOneServer,
        arguments: waits)
    func pace(wait: Wait) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let poll = try await wait.begin(server)
            try expectRefusal(try await poll(), 400, "authorization_pending")
            server.clock.advance(by: 5)
            try expectRefusal(try await poll(), 400, "authorization_pending")
            server.clock.advance(by: 2)
            try expectRefusal(try await poll(), 400, "slow_down")
            // The interval is five seconds longer from now on (RFC 8628 §3.5).
            server.clock.advance(by: 6)
            try expectRefusal(try await poll(), 400, "slow_down")
            server.clock.advance(by: 15)
            try expectRefusal(try await poll(), 400, "authorization_pending")
            // The official client keeps polling at its old interval.
            for _ in 0..<30 {
                let response = try await poll()
                #expect(response.status == 400)
                #expect(["authorization_pending", "slow_down"].contains(try response.json["error"]?.stringValue))
            }
            try await phone.approve()
            #expect(try await poll().status == 200)
        }
    }

    @Test("An oob_code is consumed when a poll returns tokens, and the next poll gets invalid_grant", arguments: waits)
    func usedUp(wait: Wait) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let poll = try await wait.begin(server)
            try await phone.approve()
            #expect(try await poll().status == 200)
            try expectRefusal(try await poll(), 400, "invalid_grant")
        }
    }

    @Test("After an unanswered push challenge expires, every poll gets expired_token, and an approval is rejected", arguments: waits)
    func expired(wait: Wait) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let poll = try await wait.begin(server)
            let challenge = try await phone.challenge()
            server.clock.advance(by: 299)
            try expectRefusal(try await poll(), 400, "authorization_pending")
            server.clock.advance(by: 1)
            try expectRefusal(try await poll(), 400, "expired_token")
            let late = try await phone.answer(challenge, .approve)
            #expect(late.status == 400)
            #expect(try late.json["errorCode"] == "E0000001")
            #expect(try await phone.waiting().isEmpty)
            try expectRefusal(try await poll(), 400, "expired_token")
        }
    }

    @Test("A poll after the push challenge expires gets expired_token, even if the user approved the push in time", arguments: waits)
    func approvedAndExpired(wait: Wait) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let poll = try await wait.begin(server)
            try await phone.approve()
            server.clock.advance(by: 300)
            try expectRefusal(try await poll(), 400, "expired_token")
        }
    }

    @Test("After the user denies a push, the next poll gets access_denied, and a later approval is rejected", arguments: waits)
    func denied(wait: Wait) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let poll = try await wait.begin(server)
            let challenge = try await phone.challenge()
            try await phone.deny()
            try expectRefusal(try await poll(), 400, "access_denied")
            // The user can no longer approve.
            #expect(try await phone.answer(challenge, .approve).status == 400)
            try expectRefusal(try await poll(), 400, "invalid_grant")
        }
    }

    // MARK: - Bindings of the secrets

    @Test(
        "A push poll that omits the mfa_token or the oob_code gets invalid_request and consumes neither secret",
        arguments: [["mfa_token": ""], ["oob_code": ""], ["mfa_token": "", "oob_code": ""]])
    func missing(changes: [String: String]) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let pending = try await client.begin()
            try await phone.approve()
            try expectRefusal(try await client.poll(pending, changes), 400, "invalid_request")
            #expect(try await client.poll(pending).status == 200)
        }
    }

    @Test(
        "A push poll with unknown or swapped secrets, or secrets of another grant, gets invalid_grant and does not consume the valid secrets"
    )
    func mixedUp() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let easy = DirectClient(server, id: "easy-app")
            let primary = try await easy.primaryCode()
            let first = try await client.begin()
            let second = try await client.begin()
            let waiting = try await phone.waiting()
            #expect(waiting.count == 3)
            for challenge in waiting { #expect(try await phone.answer(challenge, .approve).status == 200) }

            let refused: [WireResponse] = [
                try await client.poll(.init(mfaToken: "mfa_unknown", oobCode: first.oobCode)),
                try await client.poll(.init(mfaToken: first.mfaToken, oobCode: "oob_unknown")),
                try await client.poll(.init(mfaToken: second.mfaToken, oobCode: first.oobCode)),
                try await client.poll(.init(mfaToken: first.oobCode, oobCode: first.mfaToken)),
                // A second factor without the first.
                try await client.pollPrimary(first.oobCode),
                // A first factor in place of a second.
                try await easy.poll(.init(mfaToken: first.mfaToken, oobCode: primary)),
                try await client.pollPrimary("oob_unknown"),
            ]
            for response in refused { try expectRefusal(response, 400, "invalid_grant") }
            #expect(try await client.poll(first).status == 200)
            #expect(try await client.poll(second).status == 200)
            #expect(try await easy.pollPrimary(primary).status == 200)
        }
    }

    @Test("The mfa_token and the oob_code are accepted only from their client and at their authorization server")
    func foreign() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let other = DirectClient(server, id: "other-app")
            let elsewhere = DirectClient(server, base: DirectClient.org)
            let pending = try await client.begin()
            try await phone.approve()
            try expectRefusal(try await other.poll(pending), 400, "invalid_grant")
            try expectRefusal(try await elsewhere.poll(pending), 400, "invalid_grant")
            try expectRefusal(try await DirectClient(server, id: "password-app").poll(pending), 400, "unauthorized_client")
            try expectRefusal(try await DirectClient(server, id: "unknown").poll(pending), 401, "invalid_client")
            #expect(try await client.poll(pending).status == 200)

            let easy = DirectClient(server, id: "easy-app")
            let code = try await easy.primaryCode()
            try await phone.approve()
            try expectRefusal(try await other.pollPrimary(code), 400, "invalid_grant")
            try expectRefusal(
                try await DirectClient(server, id: "easy-app", base: DirectClient.org).pollPrimary(code), 400, "invalid_grant")
            #expect(try await easy.pollPrimary(code).status == 200)
        }
    }

    @Test("A push poll gets access_denied if the access policy does not allow the grant")
    func accessPolicy() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server, base: "/oauth2/closed/v1")
            let pending = try await client.begin()
            try await phone.approve()
            try expectRefusal(try await client.poll(pending), 400, "access_denied")
        }
    }
}
