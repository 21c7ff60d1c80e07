import JOSE
import Testing

@Suite("Cancellation of direct authentication")
struct CancellationTests {
    private static func expectEmptySuccess(_ response: WireResponse, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(response.status == 200, sourceLocation: sourceLocation)
        #expect(response.body.isEmpty, sourceLocation: sourceLocation)
        #expect(response["Cache-Control"] == "no-cache, no-store", sourceLocation: sourceLocation)
    }

    @Test(
        "Revoking the mfa_token or the oob_code cancels the sign-in: polls and challenges are rejected, and the phone cannot answer",
        arguments: [("mfa_token", DirectClient.custom), ("oob_code", DirectClient.custom), ("oob_code", DirectClient.org)])
    func secondFactor(secret: String, base: String) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server, base: base)
            let pending = try await client.begin()
            let challenge = try await phone.challenge()
            let token = secret == "mfa_token" ? pending.mfaToken : pending.oobCode
            Self.expectEmptySuccess(try await client.post("revoke", ["token": token, "token_type_hint": secret]))
            // A repeated revocation returns the same response.
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

    @Test("A push sign-in that the client revokes after the user's approval gets no tokens")
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

    @Test("Revoking the oob_code of a first-factor push cancels the sign-in")
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
        "Revoking an unknown or malformed mfa_token or oob_code returns 200 with an empty body",
        arguments: ["mfa_unknown", "oob_unknown", "ft_unknown", "mfa_", "nonsense", "a.b.c", "mfa_\u{FC} x"])
    func unknown(secret: String) async throws {
        try await PushServer.with { server in Self.expectEmptySuccess(try await DirectClient(server).revoke(secret)) }
    }

    @Test("A client that revokes another client's mfa_token or oob_code gets an empty 200 response, and the sign-in is not cancelled")
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

    @Test("Revoking the mfa_token and the oob_code after the tokens were issued leaves the tokens valid")
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

    @Test("A confidential client must authenticate to cancel a sign-in")
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
