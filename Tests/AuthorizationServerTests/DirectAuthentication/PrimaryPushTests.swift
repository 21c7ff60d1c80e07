import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Push as the first factor")
struct PrimaryPushTests {
    static let starts = ["primary-authenticate", "oob-authenticate"].flatMap { name in
        [DirectClient.custom, DirectClient.org].map { (name, $0) }
    }

    @Test(
        "An approved push as the first factor returns tokens once, at both names of the endpoint and both kinds of authorization servers",
        arguments: starts)
    func signIn(endpoint: String, base: String) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server, id: "easy-app", base: base)
            let started = try await client.primary(endpoint: endpoint)
            #expect(started.status == 200)
            expectProtocolHeaders(started)
            var body = try #require(try started.json.objectValue)
            let code = try #require(body.removeValue(forKey: "oob_code")?.stringValue)
            // Only /challenge returns challenge_type.
            #expect(body == ["channel": "push", "binding_method": "none", "expires_in": 300, "interval": 5])

            try expectRefusal(try await client.pollPrimary(code), 400, "authorization_pending")
            try await phone.approve()
            server.clock.advance(by: 5)
            let scope = "openid email offline_access"
            let tokens = try await IssuedTokens(
                try await client.pollPrimary(code, ["scope": scope]), keysFrom: base, server.wire)
            #expect(tokens.body["scope"] == .string(scope))
            #expect(tokens.idToken["amr"] == ["okta_verify", "swk"])
            #expect(tokens.idToken["auth_time"] == 1_800_000_000)
            #expect(tokens.idToken["sub"] == .string(phone.userID))
            // The code is consumed.
            try expectRefusal(try await client.pollPrimary(code), 400, "invalid_grant")
        }
    }

    @Test(
        "A push approval that the user verification key signs counts as two factors",
        arguments: [(PushAuthenticator.Kind.oktaVerify, ["okta_verify", "swk", "face", "mfa"]), (.customApp, ["swk", "face", "mfa"])])
    func userVerification(kind: PushAuthenticator.Kind, methods: [String]) async throws {
        try await PushServer.with(PushOrganization(kind: kind)) { server in
            let phone = try await server.enroll(.init(verifiesUser: true))
            let client = DirectClient(server)
            let code = try await client.primaryCode()
            let challenge = try await phone.challenge()
            #expect(challenge.claims["userVerification"] == "REQUIRED")
            // The possession key is not enough, and the challenge stays open.
            #expect(try await phone.answer(challenge, .approve).status == 400)
            try expectRefusal(try await client.pollPrimary(code), 400, "authorization_pending")
            try await phone.approve(.approveVerified)
            let tokens = try await IssuedTokens(try await client.pollPrimary(code), keysFrom: client.base, server.wire)
            #expect(tokens.idToken["amr"] == JSONValue(methods))
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var why: String
        var client = "easy-app"
        /// Parameters that replace those of a valid request; an empty value omits the parameter.
        var changes: [String: String] = [:]
        var status: Int
        var error: String

        var testDescription: String { "\(why): \(status) \(error)" }
    }

    static let rows: [Row] = [
        Row(why: "no name", changes: ["login_hint": ""], status: 400, error: "invalid_request"),
        Row(why: "no channel", changes: ["channel_hint": ""], status: 400, error: "invalid_request"),
        Row(why: "a channel that does not exist", changes: ["channel_hint": "email"], status: 400, error: "invalid_request"),
        Row(why: "a kind of challenge that does not exist", changes: ["challenge_hint": "password"], status: 400, error: "invalid_request"),
        Row(
            why: "the second factor's grant is no first factor", changes: ["challenge_hint": PushOrganization.secondFactorOOB], status: 400,
            error: "invalid_request"),
        Row(why: "not assigned to the client", client: "staff-app", status: 403, error: "access_denied"),
        Row(why: "the grant is not enabled", client: "password-app", status: 400, error: "unauthorized_client"),
        Row(why: "the client is unknown", client: "unknown", status: 401, error: "invalid_client"),
        Row(why: "the client does not authenticate", client: "back-end", status: 401, error: "invalid_client"),
        Row(why: "text messages are not set up", changes: ["channel_hint": "sms"], status: 403, error: "access_denied"),
        Row(why: "calls are not set up", changes: ["channel_hint": "voice"], status: 403, error: "access_denied"),
        Row(
            why: "WebAuthn is not set up",
            changes: ["challenge_hint": "urn:okta:params:oauth:grant-type:webauthn", "channel_hint": ""], status: 403,
            error: "access_denied"),
        Row(why: "an unknown user name", changes: ["login_hint": "unknown@example.com"], status: 403, error: "access_denied"),
        Row(why: "a suspended person", changes: ["login_hint": "suspended@example.com"], status: 403, error: "access_denied"),
        Row(why: "no device is enrolled", changes: ["login_hint": PushOrganization.john], status: 403, error: "access_denied"),
        Row(
            why: "the policy asks for two factors, the device proves one", client: "direct-app", status: 403, error: "access_denied"),
    ]

    @Test("Each rejected first-factor push request returns its documented status and error code", arguments: rows)
    func documented(row: Row) async throws {
        let shared = try await PushServer.refusing()
        for endpoint in ["primary-authenticate", "oob-authenticate"] {
            for base in [DirectClient.custom, DirectClient.org] {
                let response = try await DirectClient(shared.server, id: row.client, base: base).primary(row.changes, endpoint: endpoint)
                try expectRefusal(response, row.status, row.error)
            }
        }
    }

    static let pollRows: [Row] = [
        Row(why: "no code", changes: ["oob_code": ""], status: 400, error: "invalid_request"),
        Row(why: "an unknown code", changes: ["oob_code": "x"], status: 400, error: "invalid_grant"),
        Row(why: "a scope that does not exist", changes: ["scope": "launch_rockets"], status: 400, error: "invalid_scope"),
        Row(why: "another client's code", client: "other-app", status: 400, error: "invalid_grant"),
        Row(why: "the grant is not enabled", client: "password-app", status: 400, error: "unauthorized_client"),
        Row(why: "the client is unknown", client: "unknown", status: 401, error: "invalid_client"),
        Row(why: "the client does not authenticate", client: "back-end", status: 401, error: "invalid_client"),
    ]

    @Test("Each rejected first-factor poll returns its documented status and error code, and leaves the oob_code valid")
    func pollErrors() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            for base in [DirectClient.custom, DirectClient.org] {
                let code = try await DirectClient(server, id: "easy-app", base: base).primaryCode()
                try await phone.approve()
                for row in Self.pollRows {
                    let refused = try await DirectClient(server, id: row.client, base: base).pollPrimary(code, row.changes)
                    try expectRefusal(refused, row.status, row.error)
                }
                #expect(try await DirectClient(server, id: "easy-app", base: base).pollPrimary(code).status == 200)
            }
        }
    }

    @Test("A rejected first-factor push request sends no challenge to the user's device")
    func nobodyAsked() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            for row in Self.rows { #expect(try await DirectClient(server, id: row.client).primary(row.changes).status >= 400) }
            #expect(try await phone.waiting().isEmpty)
        }
    }

    @Test("A first-factor push request returns the same body for an unknown user name, a suspended user and a user without a device")
    func noEnumeration() async throws {
        try await PushServer.with { server in
            let client = DirectClient(server, id: "easy-app")
            // The date, the request's id and the client's remaining requests differ between any two requests.
            let varying = ["Date", "x-okta-request-id", "x-rate-limit-remaining"]
            var seen: Set<String> = []
            for name in ["unknown@example.com", "suspended@example.com", PushOrganization.john] {
                let response = try await client.primary(["login_hint": name])
                try expectRefusal(response, 403, "access_denied")
                let headers = response.headers.map { varying.contains($0.name) ? $0.name : "\($0.name): \($0.value)" }.sorted()
                seen.insert("\(response.status) \(headers) \(response.body)")
            }
            #expect(seen.count == 1, "\(seen)")
        }
    }

    @Test(
        "Too many first-factor push requests for one user name return 429 invalid_grant, whether or not the account exists", .onOneServer,
        arguments: [PushOrganization.jane, "unknown"])
    func nameLimit(login: String) async throws {
        let limits = RateLimits(perClient: 1_000, perAddress: 1_000, perAddressSignIns: 1_000, perUser: 3)
        try await PushServer.with(PushOrganization(rateLimits: limits)) { server in
            let client = DirectClient(server, id: "easy-app")
            for _ in 0..<3 { try expectRefusal(try await client.primary(["login_hint": login]), 403, "access_denied") }
            let refused = try await client.primary(["login_hint": login])
            try expectRefusal(refused, 429, "invalid_grant")
            #expect(refused["x-rate-limit-limit"] == "3")
            #expect(refused["x-rate-limit-remaining"] == "0")
            #expect(refused["x-rate-limit-reset"] == "1800000060")
            // After the reset, the server accepts requests again.
            server.clock.advance(by: 60)
            try expectRefusal(try await client.primary(["login_hint": login]), 403, "access_denied")
        }
    }

    @Test(
        "Without a password, a client can send two pushes in five minutes from an address, and pushes after a password do not count"
    )
    func personLimit() async throws {
        var organization = PushOrganization()
        organization.trustsForwardedAddresses = true
        try await PushServer.with(organization) { server in
            let phone = try await server.enroll()
            let client = DirectClient(server, id: "easy-app").at("203.0.113.66")
            for _ in 0..<2 {
                _ = try await client.primaryCode()
                server.clock.advance(by: 10)
            }
            let refused = try await client.primary()
            try expectRefusal(refused, 429, "invalid_grant", isForUser: true)
            #expect(refused["x-rate-limit-limit"] == "2")
            #expect(refused["x-rate-limit-reset"] == "1800000300")
            _ = try await DirectClient(server).begin()
            #expect(try await phone.waiting().count == 3)
            // The push after a password does not count against this limit.
            #expect(try await client.primary()["x-rate-limit-reset"] == "1800000300")
        }
    }

    @Test("A first-factor poll needs a scope that the client may have, and a rejected scope leaves the oob_code valid")
    func scope() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server, id: "easy-app")
            let code = try await client.primaryCode()
            try await phone.approve()
            try expectRefusal(try await client.pollPrimary(code, ["scope": ""]), 400, "invalid_scope")
            try expectRefusal(try await client.pollPrimary(code, ["scope": "openid launch_rockets"]), 400, "invalid_scope")
            // Neither request consumed the code.
            #expect(try await client.pollPrimary(code).status == 200)
        }
    }
}
