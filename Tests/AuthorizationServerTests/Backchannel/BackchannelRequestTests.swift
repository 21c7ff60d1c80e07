import Delivery
import Foundation
import JOSE
import TestSupport
import Testing

@Suite("Backchannel authentication requests")
struct BackchannelRequestTests {
    static let bases = [DirectClient.custom, DirectClient.org]

    @Test("A backchannel response has exactly auth_req_id, expires_in and interval, in the types that clients decode", arguments: bases)
    func success(base: String) async throws {
        try await PushServer.with { server in
            _ = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            let response = try await BackchannelClient(server, base: base).authorize()
            #expect(response.status == 200)
            expectProtocolHeaders(response)
            var body = try #require(try response.json.objectValue)
            #expect(body.removeValue(forKey: "auth_req_id")?.stringValue?.isEmpty == false)
            #expect(body == ["expires_in": 300, "interval": 5])
        }
    }

    @Test("A backchannel challenge has the binding message, the client's name and the requested expiry", arguments: bases)
    func question(base: String) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            _ = try await BackchannelClient(server, base: base).authorize([
                "binding_message": "Order 7%: 20% off & \"more\"", "request_expiry": "90",
            ])
            let challenge = try await phone.challenge()
            #expect(challenge.context["transactionType"] == "CIBA")
            // The server percent-encodes at least every %, because the device decodes the message.
            let message = try #require(challenge.context["bindingMessage"]?.stringValue)
            #expect(message.removingPercentEncoding == "Order 7%: 20% off & \"more\"")
            #expect(challenge.claims["appInstanceName"] == "Help desk")
            #expect(challenge.claims["aud"] == "desk")
            #expect(challenge.claims["exp"] == 1_800_000_090)
            #expect(challenge.claims["authorizationServerId"] == (base == DirectClient.custom ? "default" : nil))
            let push = try #require(await server.pushes.next())
            #expect(push.expiresAt == Date(timeIntervalSince1970: 1_800_000_090))
            let payload = try JSONValue(parsing: push.payload)
            #expect(payload["challenge"] == .string(challenge.token))
            #expect(payload["aps"]?["category"] == "OKTA_PUSH_CHALLENGE")
            #expect(payload["aps"]?["alert"]?["body"] == "Help desk asks you to confirm something.")
            // The server publishes the signing key at the address at which the device looks up keys.
            let keys = try JSONWebKeySet(try await server.wire.get("\(base)/keys").json)
            let key = try #require(keys.keys.first { $0.keyID == challenge.header["kid"]?.stringValue })
            try JSONWebSignature(parsing: challenge.token).verify(with: VerificationKey(key, algorithm: .rs256))
        }
    }

    @Test("The longest accepted binding message fits into a push of 4096 bytes", arguments: ["🔑", "%", "\"", "\\", "ß"])
    func longestMessage(character: String) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"], verifiesUser: true))
            let message = String(repeating: character, count: 100)
            #expect(try await BackchannelClient(server).authorize(["binding_message": message]).status == 200)
            let push = try #require(await server.pushes.next())
            #expect(push.payload.count <= 4_096)
            #expect(try await phone.challenge().context["bindingMessage"]?.stringValue?.removingPercentEncoding == message)
        }
    }

    @Test(
        "A backchannel request accepts the client's own ID token as id_token_hint, and rejects an invalid or foreign ID token with unknown_user_id"
    )
    func idTokenHint() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            let desk = BackchannelClient(server)
            let signIn = [
                "grant_type": "password", "username": PushOrganization.jane, "password": PushOrganization.janesPassword, "scope": "openid",
            ]
            let own = try #require(try await desk.post("token", signIn).json["id_token"]?.stringValue)
            #expect(try await desk.authorize(["login_hint": "", "id_token_hint": own]).status == 200)
            #expect(try await phone.waiting().count == 1)
            // Another client's ID token is not a valid hint.
            let foreign = try #require(
                try await DirectClient(server, id: "easy-app").post("token", signIn).json["id_token"]?.stringValue)
            for hint in [foreign, own + "x", "nonsense"] {
                try expectRefusal(try await desk.authorize(["login_hint": "", "id_token_hint": hint]), 400, "unknown_user_id")
            }
        }
    }

    @Test("A backchannel request accepts an expired ID token as id_token_hint and rejects a tampered ID token", arguments: bases)
    func expiredHint(base: String) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            let desk = BackchannelClient(server, base: base)
            let signIn = [
                "grant_type": "password", "username": PushOrganization.jane, "password": PushOrganization.janesPassword, "scope": "openid",
            ]
            let token = try #require(try await desk.post("token", signIn).json["id_token"]?.stringValue)
            let end = try #require(try JSONWebSignature(parsing: token).unverifiedClaims().expiresAt)
            server.clock.advance(by: Double(end) - 1_800_000_000 + 1)
            // The token has expired, so the server accepts it only as a hint.
            let state = try await desk.post("introspect", ["token": token, "token_type_hint": "id_token"])
            #expect(try state.json == ["active": false])
            // The test ends here if the request fails, because the server then sends no push.
            try #require(try await desk.authorize(["login_hint": "", "id_token_hint": token]).status == 200)
            let push = try #require(await server.pushes.next())
            let pushed = try WirePhone.Challenge(try #require(try JSONValue(parsing: push.payload)["challenge"]?.stringValue))
            #expect(pushed.claims["userId"] == .string(phone.userID))
            let tampered = token.dropLast(2) + (token.hasSuffix("AA") ? "BB" : "AA")
            try expectRefusal(
                try await desk.authorize(["login_hint": "", "id_token_hint": String(tampered)]), 400, "unknown_user_id")
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var why: String
        var client = BackchannelClient.Client.desk
        /// Changes to the parameters of a valid request. An empty value omits the parameter.
        var changes: [String: String] = [:]
        var status = 400
        var error: String

        var testDescription: String { "\(why): \(status) \(error)" }
    }

    private static let unsigned = "eyJhbGciOiJub25lIn0.eyJpc3MiOiJkZXNrIn0."

    static let rows: [Row] = [
        Row(why: "no scope", changes: ["scope": ""], error: "invalid_scope"),
        Row(why: "no openid", changes: ["scope": "profile"], error: "invalid_scope"),
        Row(why: "an unknown scope", changes: ["scope": "openid launch_rockets"], error: "invalid_scope"),
        Row(why: "no hint", changes: ["login_hint": ""], error: "invalid_request"),
        Row(why: "two hints", changes: ["id_token_hint": "x"], error: "invalid_request"),
        Row(why: "two hints, one of a kind that is not read", changes: ["login_hint_token": "x"], error: "invalid_request"),
        Row(why: "an unknown user name", changes: ["login_hint": "unknown@example.com"], error: "unknown_user_id"),
        Row(why: "a suspended person", changes: ["login_hint": "suspended@example.com"], error: "unknown_user_id"),
        Row(why: "no device at all", changes: ["login_hint": PushOrganization.john], error: "unknown_user_id"),
        Row(
            why: "a message that no screen holds", changes: ["binding_message": String(repeating: "x", count: 101)],
            error: "invalid_binding_message"),
        Row(why: "a message with a line feed", changes: ["binding_message": "a\nb"], error: "invalid_binding_message"),
        Row(why: "a message with a line separator", changes: ["binding_message": "a\u{2028}b"], error: "invalid_binding_message"),
        Row(why: "a message with a paragraph separator", changes: ["binding_message": "a\u{2029}b"], error: "invalid_binding_message"),
        Row(why: "a message with an escape sequence", changes: ["binding_message": "a\u{1B}[2Jb"], error: "invalid_binding_message"),
        Row(why: "no seconds", changes: ["request_expiry": "0"], error: "invalid_request"),
        Row(why: "too many seconds", changes: ["request_expiry": "301"], error: "invalid_request"),
        Row(why: "negative seconds", changes: ["request_expiry": "-1"], error: "invalid_request"),
        Row(why: "seconds that are no number", changes: ["request_expiry": "soon"], error: "invalid_request"),
        Row(why: "seconds with a fraction", changes: ["request_expiry": "30.5"], error: "invalid_request"),
        // A request object needs a registered algorithm, and no client has one.
        Row(why: "a request object", changes: ["request": unsigned], error: "invalid_request_object"),
        Row(why: "a public client", client: .publicDesk, error: "unauthorized_client"),
        Row(why: "the grant is not enabled", client: .muteDesk, error: "unauthorized_client"),
        Row(why: "the secret is wrong", client: .wrongSecret, status: 401, error: "invalid_client"),
        Row(why: "the client does not authenticate", client: .silentDesk, status: 401, error: "invalid_client"),
        // The same error as for an unknown name, because another error would reveal that the account exists.
        Row(why: "the person is not assigned to the client", client: .staffDesk, error: "unknown_user_id"),
    ]

    @Test("Each rejected backchannel request returns its documented status and error code", arguments: rows)
    func documented(row: Row) async throws {
        let shared = try await PushServer.refusing()
        for base in Self.bases {
            try expectRefusal(
                try await BackchannelClient(shared.server, row.client, base: base).authorize(row.changes), row.status, row.error)
        }
    }

    @Test("A rejected backchannel request sends no challenge to the user's device")
    func nobodyAsked() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            for row in Self.rows { #expect(try await BackchannelClient(server, row.client).authorize(row.changes).status >= 400) }
            #expect(try await phone.waiting().isEmpty)
        }
    }

    @Test("A backchannel request is rejected if the user's device is not enrolled for backchannel requests, or if push is disabled")
    func notEnabled() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll(.init(transactionTypes: ["LOGIN"]))
            try expectRefusal(try await BackchannelClient(server).authorize(), 400, "unknown_user_id")
            #expect(try await phone.waiting().isEmpty)
        }
        try await PushServer.with { server in
            _ = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            try await server.apply(PushOrganization(isActive: false))
            try expectRefusal(try await BackchannelClient(server).authorize(), 400, "unknown_user_id")
        }
    }

    @Test("After five backchannel requests for one user, the next request gets 429 invalid_grant")
    func personLimit() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            for _ in 0..<5 { #expect(try await BackchannelClient(server).authorize().status == 200) }
            let refused = try await BackchannelClient(server).authorize()
            try expectRefusal(refused, 429, "invalid_grant", isForUser: true)
        }
    }
}
