import CountersignSandbox
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Documentation/Protocol/Authn.md §4.7 and §5.1 in raw requests.
@Suite("Recovery codes in the classic API")
struct ClassicRecoveryCodeTests {
    private static func with(
        _ policy: ClassicPolicy = ClassicPolicy(signOnPolicy: "two factors"),
        _ body: @Sendable (ClassicClient, PushServer, [String]) async throws -> Void
    ) async throws {
        try await ClassicClient.withPasskeys(policy, savedCodes: SavedCodesPolicy(count: 4)) { client, server in
            var authenticator = ClassicAuthenticator()
            try await authenticator.register(server)
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let context = RequestContext(now: server.clock.now, requestID: "codes")
            try await body(client, server, #require(try await server.engine.grantSavedCodes(toUser: id, context: context)))
        }
    }

    /// Starts a sign-in of Jane, and verifies a recovery code.
    private static func verify(_ code: String, _ client: ClassicClient) async throws -> WireResponse {
        let status = try await client.begin()
        return try await client.follow(status.factor("token")["_links"]?["verify"], of: status, ["passCode": .string(code)])
    }

    @Test("A recovery code is a token of the provider CUSTOM, and each code is accepted once")
    func once() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "two factors", factors: [.webauthn: .notAllowed, .totp: .notAllowed])) {
            client, _, codes in
            let factor = try await client.begin().factor("token")
            #expect(factor["provider"] == "CUSTOM" && factor["vendorName"] == "CUSTOM")
            #expect(factor["profile"] == ["credentialId": .string(PushOrganization.jane)])
            #expect(try ClassicStatus(try await Self.verify(codes[0].uppercased(), client)).name == "SUCCESS")
            try expectClassicRefusal(try await Self.verify(codes[0], client), 403, "E0000068", causes: 1)
            #expect(try ClassicStatus(try await Self.verify(codes[1], client)).name == "SUCCESS")
        }
    }

    @Test("After a recovery code, a user who lost the passkeys can enroll another one, or skip the enrollment")
    func lostPasskeys() async throws {
        try await Self.with { client, _, codes in
            let offered = try ClassicStatus(try await Self.verify(codes[0], client))
            #expect(offered.name == "MFA_ENROLL" && offered.linkNames == ["cancel", "skip(skip)"])
            let activating = try await client.enrollPasskey(offered)
            var authenticator = ClassicAuthenticator()
            var done = try ClassicStatus(try await client.follow(activating.next, of: activating, authenticator.create(activating)))
            if done.name == "MFA_ENROLL" { done = try ClassicStatus(try await client.follow(done.links["skip"], of: done)) }
            #expect(done.name == "SUCCESS")
            let again = try ClassicStatus(try await Self.verify(codes[1], client))
            #expect(try ClassicStatus(try await client.follow(again.links["skip"], of: again)).name == "SUCCESS")
        }
    }

    @Test("After the last recovery code, a user who lost the passkeys can enroll another one, also where the policy requires passkeys")
    func lastCode() async throws {
        let policies: [ClassicPolicy] = [
            ClassicPolicy(signOnPolicy: "two factors"), ClassicPolicy(signOnPolicy: "two factors", factors: [.webauthn: .required]),
        ]
        for policy in policies {
            try await Self.with(policy) { client, _, codes in
                for code in codes.dropLast() { _ = try await Self.verify(code, client) }
                let offered = try ClassicStatus(try await Self.verify(try #require(codes.last), client))
                #expect(offered.name == "MFA_ENROLL")
                let activating = try await client.enrollPasskey(offered)
                var authenticator = ClassicAuthenticator()
                var done = try ClassicStatus(try await client.follow(activating.next, of: activating, authenticator.create(activating)))
                if done.name == "MFA_ENROLL" { done = try ClassicStatus(try await client.follow(done.links["skip"], of: done)) }
                #expect(done.name == "SUCCESS")
            }
        }
    }

    @Test("A required factor can still be enrolled after the last recovery code")
    func requiredAfterLastCode() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "two factors", factors: [.totp: .required])) { client, _, codes in
            for code in codes {
                let offered = try ClassicStatus(try await Self.verify(code, client))
                #expect(offered.name == "MFA_ENROLL" && !offered.linkNames.contains { $0.hasPrefix("skip") })
            }
        }
    }

    @Test("A recovery code does not remember the device, because the remembered device would outlive the list of codes")
    func rememberedDevice() async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "two factors", remembering: .device, factors: [.webauthn: .notAllowed, .totp: .notAllowed])
        try await Self.with(policy) { client, server, codes in
            let status = try await client.begin()
            let done = try await client.follow(
                status.factor("token")["_links"]?["verify"], of: status, ["passCode": .string(codes[0])], query: "?rememberDevice=true")
            #expect(try ClassicStatus(done).name == "SUCCESS")
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            #expect(try await server.engine.rememberedDevices(ofUser: jane).isEmpty)
        }
    }

    @Test("A user cannot enroll recovery codes through the classic API")
    func enrollment() async throws {
        try await Self.with { client, _, codes in
            let offered = try ClassicStatus(try await Self.verify(codes[0], client))
            #expect(offered.factors.allSatisfy { $0["factorType"] != "token" })
            let body: [String: JSONValue] = ["factorType": "token", "provider": "CUSTOM", "profile": [:]]
            let enroll = try offered.factor("webauthn")["_links"]?["enroll"]
            #expect(try await client.follow(enroll, of: offered, body).status == 400)
        }
    }
}
