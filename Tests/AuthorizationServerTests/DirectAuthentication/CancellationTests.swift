import JOSE
import Testing

@Suite("Giving up a sign-in, over the wire")
struct CancellationTests {
    private static func expectEmptySuccess(_ response: WireResponse, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(response.status == 200, sourceLocation: sourceLocation)
        #expect(response.body.isEmpty, sourceLocation: sourceLocation)
        #expect(response["Cache-Control"] == "no-cache, no-store", sourceLocation: sourceLocation)
    }

    @Test(
        "revoking either secret closes the sign-in: no tokens, no question, and the phone is told",
        arguments: [("mfa_token", DirectClient.custom), ("oob_code", DirectClient.custom), ("oob_code", DirectClient.org)])
    func secondFactor(secret: String, base: String) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server, base: base)
            let pending = try await client.begin()
            let challenge = try await phone.challenge()
            let token = secret == "mfa_token" ? pending.mfaToken : pending.oobCode
            Self.expectEmptySuccess(try await client.post("revoke", ["token": token, "token_type_hint": secret]))
            // Revoked again, it is the same.
            Self.expectEmptySuccess(try await client.revoke(token))

            #expect(try await phone.waiting().isEmpty)
            let late = try await phone.answer(challenge, .approve)
            #expect(late.status == 400)
            #expect(try late.json["errorCode"] == "E0000001")
            #expect(try late.json["errorCauses"]?[0]?["errorSummary"] == "The sign-in was cancelled.")
            try expectRefusal(try await client.poll(pending), 400, "invalid_grant")
            try expectRefusal(try await client.challenge(pending.mfaToken), 400, "access_denied")
            #expect(try await server.logged("user.authentication.cancel") == 1)
        }
    }

    @Test("an approval that came before does not survive it")
    func afterApproval() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let pending = try await client.begin()
            try await phone.approve()
            Self.expectEmptySuccess(try await client.revoke(pending.oobCode))
            try expectRefusal(try await client.poll(pending), 400, "invalid_grant")
        }
    }

    @Test("a first factor's code as well")
    func firstFactor() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server, id: "easy-app")
            let code = try await client.primaryCode()
            let challenge = try await phone.challenge()
            Self.expectEmptySuccess(try await client.revoke(code))
            #expect(try await phone.answer(challenge, .deny).status == 400)
            try expectRefusal(try await client.pollPrimary(code), 400, "invalid_grant")
        }
    }

    @Test(
        "what is unknown, of no form, or long over is 200 all the same",
        arguments: ["mfa_unknown", "oob_unknown", "ft_unknown", "mfa_", "nonsense", "a.b.c", "mfa_\u{FC} x"])
    func unknown(secret: String) async throws {
        try await PushServer.with { server in Self.expectEmptySuccess(try await DirectClient(server).revoke(secret)) }
    }

    @Test("nobody cancels another client's sign-in, though they are told nothing of it")
    func foreign() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let pending = try await client.begin()
            let other = DirectClient(server, id: "other-app")
            Self.expectEmptySuccess(try await other.revoke(pending.mfaToken))
            Self.expectEmptySuccess(try await other.revoke(pending.oobCode))
            try await phone.approve()
            #expect(try await client.poll(pending).status == 200)
        }
    }

    @Test("after the tokens there is nothing to cancel: they stay good")
    func afterTokens() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let pending = try await client.begin()
            try await phone.approve()
            let access = try #require(try await client.poll(pending).json["access_token"]?.stringValue)
            Self.expectEmptySuccess(try await client.revoke(pending.mfaToken))
            Self.expectEmptySuccess(try await client.revoke(pending.oobCode))
            let userinfo = try await server.wire.get("\(client.base)/userinfo", headers: [("Authorization", "Bearer \(access)")])
            #expect(userinfo.status == 200)
        }
    }

    @Test("a confidential client must authenticate to cancel")
    func authentication() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let secret = ["client_secret": "back-end-secret-01234"]
            let client = DirectClient(server, id: "back-end", additional: secret)
            let pending = try await client.begin()
            try expectRefusal(try await DirectClient(server, id: "back-end").revoke(pending.oobCode), 401, "invalid_client")
            try await phone.approve()
            #expect(try await client.poll(pending).status == 200)
        }
    }
}
