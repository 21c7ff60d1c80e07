import IdentityCore
import JOSE
import TestSupport
import Testing

/// Documentation/Protocol/Authn.md §4.2 and §3.2 in raw requests.
@Suite("Primary authentication in the classic API")
struct PrimaryAuthenticationTests {
    @Test("A valid user name and password return a session token that starts a session once")
    func success() async throws {
        try await PushServer.with { server in
            let client = ClassicClient(server)
            let status = try ClassicStatus(
                try await client.signIn(PushOrganization.jane, PushOrganization.janesPassword, ["relayState": "/a?b"]))
            let user = try #require(try await server.engine.user(login: PushOrganization.jane))
            let token = try #require(status.json["sessionToken"]?.stringValue)
            #expect(
                status.json == [
                    "status": "SUCCESS", "expiresAt": "2027-01-15T08:05:00.000Z", "sessionToken": .string(token), "relayState": "/a?b",
                    "_embedded": [
                        "user": [
                            "id": .string(user.id), "passwordChanged": "2027-01-15T08:00:00.000Z",
                            "profile": [
                                "login": "jane.doe@example.com", "firstName": "Jane", "lastName": "Doe", "locale": "en", "timeZone": "UTC",
                            ],
                        ]
                    ],
                ])
            let app = WireRelyingParty.readingApp
            for isFirst in [true, false] {
                let answer = try await WireBrowser(server.wire).get(app.authorizeURL(["sessionToken": token, "prompt": "none"]))
                if isFirst { _ = try app.code(answer) } else { #expect(try app.error(answer) == "login_required") }
            }
        }
    }

    @Test("Wrong password, unknown, locked and suspended accounts return the same response")
    func alike() async throws {
        try await PushServer.with { server in
            let client = ClassicClient(server)
            var bodies: Set<String> = []
            func refused(_ login: String, _ password: String) async throws {
                let response = try await client.signIn(login, password)
                try expectClassicRefusal(response, 401, "E0000004")
                #expect(try response.json["errorSummary"] == "Authentication failed")
                bodies.insert(response.body.replacing(try #require(response["x-okta-request-id"]), with: ""))
            }
            for _ in 0..<5 { try await refused(PushOrganization.john, "wrong") }
            try await refused(PushOrganization.john, PushOrganization.johnsPassword)
            try await refused("unknown@example.com", "wrong")
            try await refused("suspended@example.com", "Correct-Horse-8")
            try await refused(String(repeating: "é", count: 2_000), "wrong")
            #expect(bodies.count == 1)
            #expect(try await server.logged("user.account.lock") == 1)
        }
    }

    @Test("If the policy shows lockouts, attempts for a locked account return LOCKED_OUT, and unknown names never do")
    func shownLock() async throws {
        try await PushServer.with(PushOrganization(classic: ClassicPolicy(signOnPolicy: "one factor", showsLockout: true))) { server in
            let client = ClassicClient(server)
            for _ in 0..<4 { try expectClassicRefusal(try await client.signIn(PushOrganization.jane, "wrong"), 401, "E0000004") }
            for password in ["wrong", PushOrganization.janesPassword] {
                let status = try ClassicStatus(try await client.signIn(PushOrganization.jane, password))
                #expect(
                    status.json == [
                        "status": "LOCKED_OUT", "_embedded": [:],
                        "_links": [
                            "next": [
                                "name": "unlock", "href": .string(ClassicClient.base + "/recovery/unlock"), "hints": ["allow": ["POST"]],
                            ]
                        ],
                    ])
            }
            for _ in 0..<6 { try expectClassicRefusal(try await client.signIn("unknown@example.com", "wrong"), 401, "E0000004") }
            server.clock.advance(by: 15 * 60)
            #expect(try ClassicStatus(try await client.signIn()).name == "SUCCESS")
        }
    }

    @Test("A sign-in is rejected if the sign-on policy denies the user, or if the classic API is disabled")
    func policy() async throws {
        try await PushServer.with(PushOrganization(classic: nil)) { server in
            _ = try expectClassicRefusal(try await ClassicClient(server).signIn(), 401, "E0000015")
        }
        try await PushServer.with(PushOrganization(classic: ClassicPolicy(signOnPolicy: "deny-all"))) { server in
            _ = try expectClassicRefusal(try await ClassicClient(server).signIn(), 401, "E0000004")
        }
    }

    @Test(
        "A malformed sign-in request is rejected with status 400 and the error code of its defect",
        arguments: [
            ("{\"username\":\"jane\"}", "E0000001", 1), ("{}", "E0000001", 1), ("{\"username\":\"\",\"password\":\"x\"}", "E0000001", 1),
            ("{\"username\":1,\"password\":\"x\"}", "E0000001", 1), ("[]", "E0000003", 0), ("{", "E0000003", 0), ("", "E0000003", 0),
        ])
    func malformed(body: String, code: String, causes: Int) async throws {
        let server = try await PushServer.refusing().server
        let response = try await server.wire.call(
            "POST", "/api/v1/authn", headers: [("Content-Type", "application/json")], body: Array(body.utf8))
        try expectClassicRefusal(response, 400, code, causes: causes)
    }

    @Test("The classic API rejects a body that is not declared as JSON, a method that the path does not allow, and an unknown path")
    func wire() async throws {
        let server = try await PushServer.refusing().server
        try expectClassicRefusal(
            try await server.wire.post("/api/v1/authn", "username=jane.doe@example.com&password=Correct-Horse-7"), 400, "E0000003")
        // A page of any site can make a browser send JSON without a content type.
        let unnamed = try await server.wire.call(
            "POST", "/api/v1/authn", headers: [], body: Array(#"{"username":"jane.doe@example.com","password":"Correct-Horse-7"}"#.utf8))
        try expectClassicRefusal(unnamed, 400, "E0000003")
        #expect(try await server.wire.get("/api/v1/authn").status == 405)
        for path in ["/api/v1/authn/", "/api/v1/authn/other", "/api/v1/authn/factors/x", "/api/v1/authn/cancel/x"] {
            let response = try await server.wire.call("POST", path, headers: [("Content-Type", "application/json")], body: Array("{}".utf8))
            try expectClassicRefusal(response, 404, "E0000008")
        }
    }

    @Test("Sign-in attempts for one user name are limited, and the response says when to retry", .onOneServer)
    func limit() async throws {
        var organization = PushOrganization()
        organization.rateLimits.perUser = 3
        try await PushServer.with(organization) { server in
            let client = ClassicClient(server)
            // Attempts from a device that the user has used before are counted separately.
            for _ in 0..<3 { #expect(try await client.signIn(PushOrganization.jane, "wrong").status == 401) }
            let response = try await client.signIn()
            try expectClassicRefusal(response, 429, "E0000047")
            #expect(response["x-rate-limit-limit"] == "3")
            #expect(response["x-rate-limit-remaining"] == "0")
            #expect(response["Retry-After"] == "60")
        }
    }

    @Test("An unknown API token is rejected even with the right password")
    func trustedCaller() async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "one factor", trustedCallers: [.init(name: "portal", token: "a-token-of-the-portal-0123456789")])
        try await PushServer.with(PushOrganization(classic: policy)) { server in
            let wrong = ClassicClient(server, headers: [("Authorization", "SSWS another-token-0123456789012345678")])
            try expectClassicRefusal(try await wrong.signIn(), 401, "E0000011")
            let right = ClassicClient(server, headers: [("Authorization", "SSWS a-token-of-the-portal-0123456789")])
            #expect(try ClassicStatus(try await right.signIn()).name == "SUCCESS")
            try expectClassicRefusal(try await right.signIn(PushOrganization.jane, "wrong"), 401, "E0000004")
        }
    }
}
