import IdentityCore
import JOSE
import TestSupport
import Testing

/// Documentation/Protocol/Authn.md §4.5, §5.4, §5.7 and §5.8 in raw requests.
@Suite("External tokens and authenticator apps of two providers in the classic API")
struct ClassicTokenTests {
    private static let two = ClassicPolicy(signOnPolicy: "two factors", factors: [.rsa: .optional, .symantec: .optional])

    private static func with(
        _ policy: ClassicPolicy = two, tokens: ScriptedTokens? = ScriptedTokens(),
        _ body: @Sendable (ClassicClient, PushServer) async throws -> Void
    ) async throws {
        var organization = PushOrganization(classic: policy)
        organization.tokenService = tokens
        try await PushServer.with(organization) { server in try await body(ClassicClient(server), server) }
    }

    private static func token(_ provider: String, _ code: String, next: String? = nil, id: String? = "known") -> [String: JSONValue] {
        var body: [String: JSONValue] = ["factorType": "token", "provider": .string(provider), "passCode": .string(code)]
        body["nextPassCode"] = next.map(JSONValue.string)
        body["profile"] = id.map { ["credentialId": .string($0)] }
        return body
    }

    private static func enroll(_ client: ClassicClient, _ status: ClassicStatus, _ body: [String: JSONValue]) async throws -> WireResponse {
        try await client.follow(status.factors[0]["_links"]?["enroll"], of: status, body)
    }

    @Test(
        "An external token is enrolled by its codes without activation, and the next sign-in requires it", arguments: ["RSA", "SYMANTEC"])
    func setsUp(provider: String) async throws {
        let tokens = ScriptedTokens()
        try await Self.with(tokens: tokens) { client, server in
            let status = try await client.begin()
            let entry = try #require(status.factors.first { $0["provider"] == .string(provider) })
            #expect(entry["factorType"] == "token" && entry["vendorName"] == .string(provider) && entry["status"] == "NOT_SETUP")
            try expectClassicRefusal(
                try await Self.enroll(client, status, Self.token(provider, "123456", next: "1", id: nil)), 400, "E0000001", causes: 1)
            try expectClassicRefusal(
                try await Self.enroll(client, status, Self.token(provider, "555555", next: "1")), 403, "E0000068", causes: 1)
            try expectClassicRefusal(
                try await Self.enroll(client, status, Self.token(provider, "000000", next: "1")), 409, "E0000113", causes: 1)
            try expectClassicRefusal(try await Self.enroll(client, status, Self.token(provider, "999999", next: "1")), 504, "E0000067")
            if provider == "SYMANTEC" {
                try expectClassicRefusal(try await Self.enroll(client, status, Self.token(provider, "123456")), 400, "E0000028", causes: 1)
            }
            let next = provider == "SYMANTEC" ? "654321" : nil
            let done = try ClassicStatus(try await Self.enroll(client, status, Self.token(provider, "123456", next: next)))
            #expect(done.name == "SUCCESS")
            let asked = [provider, "known", PushOrganization.jane, "123456", next].compactMap(\.self).joined(separator: " ")
            #expect(tokens.questions.last == asked)

            let again = try await client.begin()
            let factor = try #require(again.factors.first)
            #expect(
                factor["factorType"] == "token" && factor["provider"] == .string(provider) && factor["profile"] == ["credentialId": "known"]
            )
            let verify = factor["_links"]?["verify"]
            let challenge = try ClassicStatus(try await client.follow(verify, of: again))
            #expect(challenge.name == "MFA_CHALLENGE" && challenge.linkNames == ["cancel", "next(verify)", "prev"])
            for (code, status, error, causes) in [
                ("555555", 403, "E0000068", 1), ("000000", 409, "E0000113", 1), ("999999", 504, "E0000067", 0),
            ] {
                try expectClassicRefusal(
                    try await client.follow(challenge.next, of: again, ["passCode": .string(code)]), status, error, causes: causes)
            }
            #expect(try ClassicStatus(try await client.follow(challenge.next, of: again, ["passCode": "123457"])).name == "SUCCESS")
        }
    }

    @Test("An external token cannot be enrolled if it is unknown or no token service is configured, and five failures lock the account")
    func refused() async throws {
        try await Self.with(tokens: nil) { client, _ in
            let status = try await client.begin()
            try expectClassicRefusal(try await Self.enroll(client, status, Self.token("RSA", "123456")), 400, "E0000074", causes: 1)
        }
        try await Self.with { client, server in
            let status = try await client.begin()
            for _ in 0..<4 {
                try expectClassicRefusal(
                    try await Self.enroll(client, status, Self.token("RSA", "123456", id: "unknown")), 403, "E0000068", causes: 1)
            }
            try expectClassicRefusal(try await Self.enroll(client, status, Self.token("RSA", "123456", id: "unknown")), 403, "E0000069")
            #expect(try await server.logged("user.account.lock") == 1)
        }
    }

    @Test("A user can enroll a Google and an Okta authenticator app, and a code of the Okta app is rejected for the Google app")
    func bothApps() async throws {
        let policy = ClassicPolicy(signOnPolicy: "one factor", factors: [.totp: .required, .oktaTOTP: .required])
        try await Self.with(policy) { client, server in
            var status = try await client.begin()
            var apps: [String: ClassicApp] = [:]
            for provider in ["GOOGLE", "OKTA"] {
                #expect(status.name == "MFA_ENROLL")
                let entry = try #require(
                    status.factors.first { $0["provider"] == .string(provider) && $0["factorType"] == "token:software:totp" })
                #expect(entry["status"] == "NOT_SETUP")
                let begun = try ClassicStatus(
                    try await client.follow(
                        entry["_links"]?["enroll"], of: status,
                        ["factorType": "token:software:totp", "provider": .string(provider)]))
                let factor = try #require(begun.embedded["factor"])
                #expect(factor["provider"] == .string(provider) && factor["vendorName"] == .string(provider))
                let secret = try #require(factor["_embedded"]?["activation"]?["sharedSecret"]?.stringValue)
                let app = ClassicApp(
                    id: try #require(factor["id"]?.stringValue), secret: try #require(Base32.decode(secret)), clock: server.clock)
                apps[provider] = app
                status = try ClassicStatus(try await client.follow(begun.next, of: begun, ["passCode": .string(app.code())]))
            }
            #expect(status.name == "SUCCESS")
            server.clock.advance(by: 90)
            try await server.apply(PushOrganization(classic: ClassicPolicy(signOnPolicy: "two factors")))
            let (google, okta) = (try #require(apps["GOOGLE"]), try #require(apps["OKTA"]))
            let next = try await client.begin()
            #expect(Set(next.factors.map { $0["provider"] }) == ["GOOGLE", "OKTA"])
            func verify(_ id: String, _ app: ClassicApp) async throws -> WireResponse {
                let factor = next.factors.first { $0["id"] == .string(id) }
                return try await client.follow(factor?["_links"]?["verify"], of: next, ["passCode": .string(app.code())])
            }
            try expectClassicRefusal(try await verify(google.id, okta), 403, "E0000068", causes: 1)
            #expect(try ClassicStatus(try await verify(okta.id, okta)).name == "SUCCESS")
        }
    }

    @Test(
        "The enrollment of an unsupported factor type is rejected with E0000015 and leaves the sign-in unchanged",
        arguments: [
            ["factorType": "u2f", "provider": "FIDO"], ["factorType": "web", "provider": "DUO"],
        ]
            as [[String: JSONValue]])
    func notSupported(factor: [String: JSONValue]) async throws {
        try await Self.with { client, _ in
            let status = try await client.begin()
            try expectClassicRefusal(try await Self.enroll(client, status, factor), 401, "E0000015")
            let token: [String: JSONValue] = ["stateToken": .string(try #require(status.token))]
            #expect(try ClassicStatus(try await client.post("", .object(token))).json["status"] == "MFA_ENROLL")
        }
    }
}
