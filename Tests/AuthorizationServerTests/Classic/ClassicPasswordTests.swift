import IdentityCore
import JOSE
import TestSupport
import Testing

/// Documentation/Protocol/Authn.md §3.3 and §4.3 in raw requests.
@Suite("Expired passwords in the classic API")
struct ClassicPasswordTests {
    private static let new = "Another-Horse-8"

    private static func with(
        _ age: PasswordPolicy.Age, complexity: PasswordPolicy.Complexity = .init(),
        _ body: @Sendable (ClassicClient, PushServer) async throws -> Void
    ) async throws {
        var organization = PushOrganization()
        organization.passwordPolicy.age = age
        organization.passwordPolicy.complexity = complexity
        try await PushServer.with(organization) { server in try await body(ClassicClient(server), server) }
    }

    @Test("A user with an expired password must set a new password that meets the shown policy, and older session tokens become invalid")
    func expired() async throws {
        try await Self.with(.init(maximumDays: 90, history: 3), complexity: .init(digits: 1)) { client, server in
            let session = try #require(try ClassicStatus(try await client.signIn()).json["sessionToken"]?.stringValue)
            server.clock.advance(by: 90 * 86_400)
            let status = try await client.begin()
            #expect(status.name == "PASSWORD_EXPIRED")
            #expect(status.linkNames == ["cancel", "next(changePassword)"])
            #expect(status.embeddedNames == ["policy", "user"])
            #expect(
                status.embedded["policy"] == [
                    "complexity": [
                        "minLength": 8, "minLowerCase": 0, "minUpperCase": 0, "minNumber": 1, "minSymbol": 0, "excludeUsername": true,
                        "excludeAttributes": [],
                    ], "age": ["minAgeMinutes": 0, "historyCount": 3],
                ])
            try expectClassicRefusal(
                try await client.post("/skip", ["stateToken": .string(status.token ?? "")]), 403, "E0000079", causes: 1)
            func change(_ old: String, _ new: String) async throws -> WireResponse {
                try await client.follow(status.next, of: status, ["oldPassword": .string(old), "newPassword": .string(new)])
            }
            try expectClassicRefusal(try await change("wrong", Self.new), 403, "E0000014", causes: 1)
            let own = PushOrganization.janesPassword
            let causes = try expectClassicRefusal(try await change(own, "horse"), 403, "E0000014", causes: 1)
            #expect(causes.first?.contains("at least 8 characters") == true && causes.first?.contains("at least 1 digit") == true)
            try expectClassicRefusal(try await change(own, own), 403, "E0000014", causes: 1)
            #expect(try ClassicStatus(try await change(own, Self.new)).name == "SUCCESS")
            try expectClassicRefusal(try await client.signIn(), 401, "E0000004")
            #expect(try ClassicStatus(try await client.signIn(PushOrganization.jane, Self.new)).name == "SUCCESS")
            // The session token that was issued for the old password is invalid.
            try expectClassicRefusal(
                try await server.wire.call(
                    "POST", "/api/v1/sessions", headers: [("Content-Type", "application/json")],
                    body: (["sessionToken": .string(session)] as JSONValue).serialized()), 401, "E0000011")
        }
    }

    @Test("A client can request a warning before a password expires, and the user can skip the warning or change the password")
    func warned() async throws {
        try await Self.with(.init(maximumDays: 90, warningDays: 5)) { client, server in
            server.clock.advance(by: 86 * 86_400)
            #expect(try ClassicStatus(try await client.signIn()).name == "SUCCESS")
            let warns: [String: JSONValue] = ["options": ["warnBeforePasswordExpired": true]]
            for isKept in [true, false] {
                let status = try await client.begin(warns)
                #expect(status.name == "PASSWORD_WARN")
                #expect(status.linkNames == ["cancel", "next(changePassword)", "skip(skip)"])
                #expect(status.embedded["policy"]?["expiration"] == ["passwordExpireDays": 4])
                let answer =
                    isKept
                    ? try await client.follow(status.links["skip"], of: status)
                    : try await client.follow(
                        status.next, of: status,
                        ["oldPassword": .string(PushOrganization.janesPassword), "newPassword": .string(Self.new)])
                #expect(try ClassicStatus(answer).name == "SUCCESS")
            }
            #expect(try ClassicStatus(try await client.signIn(PushOrganization.jane, Self.new, warns)).name == "SUCCESS")
        }
    }

    @Test("A password change ends the user's sessions, whatever value revokeSessions has", arguments: [true, false, nil])
    func sessions(revokes: Bool?) async throws {
        try await Self.with(.init(maximumDays: 90, warningDays: 5)) { client, server in
            server.clock.advance(by: 86 * 86_400)
            let token = try #require(try ClassicStatus(try await client.signIn()).json["sessionToken"]?.stringValue)
            let browser = WireBrowser(server.wire)
            let app = WireRelyingParty.readingApp
            _ = try app.code(try await browser.get(app.authorizeURL(["sessionToken": token, "prompt": "none"])))
            _ = try app.code(try await browser.get(app.authorizeURL(["prompt": "none"])))
            let status = try await client.begin(["options": ["warnBeforePasswordExpired": true]])
            var change: [String: JSONValue] = ["oldPassword": .string(PushOrganization.janesPassword), "newPassword": "horse"]
            change["revokeSessions"] = revokes.map(JSONValue.bool)
            try expectClassicRefusal(try await client.follow(status.next, of: status, change), 403, "E0000014", causes: 1)
            _ = try app.code(try await browser.get(app.authorizeURL(["prompt": "none"])))
            change["newPassword"] = .string(Self.new)
            #expect(try ClassicStatus(try await client.follow(status.next, of: status, change)).name == "SUCCESS")
            #expect(try app.error(try await browser.get(app.authorizeURL(["prompt": "none"]))) == "login_required")
        }
    }

    @Test("An expired password can be changed only after the second factor is verified")
    func afterFactor() async throws {
        var organization = PushOrganization(classic: ClassicPolicy(signOnPolicy: "two factors"))
        organization.passwordPolicy.age = .init(maximumDays: 90)
        try await PushServer.with(organization) { server in
            let client = ClassicClient(server)
            let app = try await client.app()
            server.clock.advance(by: 90 * 86_400)
            let status = try await client.begin()
            #expect(status.name == "MFA_REQUIRED")
            let change: [String: JSONValue] = [
                "stateToken": .string(status.token ?? ""), "oldPassword": .string(PushOrganization.janesPassword),
                "newPassword": .string(Self.new),
            ]
            try expectClassicRefusal(
                try await client.post("/credentials/change_password", .object(change)), 403, "E0000079", causes: 1)
            let due = try ClassicStatus(
                try await client.follow(
                    status.factor("token:software:totp")["_links"]?["verify"], of: status, ["passCode": .string(app.code())]))
            #expect(due.name == "PASSWORD_EXPIRED")
            #expect(due.token == status.token)
            let done = try ClassicStatus(try await client.follow(due.next, of: due, change))
            #expect(done.name == "SUCCESS")
            let party = WireRelyingParty.browserApp
            let token = try #require(done.json["sessionToken"]?.stringValue)
            _ = try party.code(try await WireBrowser(server.wire).get(party.authorizeURL(["sessionToken": token, "prompt": "none"])))
        }
    }

    @Test("Five wrong old passwords in a password change lock the account and end the sign-in")
    func guessed() async throws {
        try await Self.with(.init(maximumDays: 90)) { client, server in
            server.clock.advance(by: 90 * 86_400)
            let status = try await client.begin()
            let guess: [String: JSONValue] = ["oldPassword": "wrong", "newPassword": .string(Self.new)]
            for _ in 0..<4 { try expectClassicRefusal(try await client.follow(status.next, of: status, guess), 403, "E0000014", causes: 1) }
            try expectClassicRefusal(try await client.follow(status.next, of: status, guess), 403, "E0000069")
            try expectClassicRefusal(try await client.follow(status.next, of: status, guess), 401, "E0000011")
            try expectClassicRefusal(try await client.signIn(), 401, "E0000004")
        }
    }
}
