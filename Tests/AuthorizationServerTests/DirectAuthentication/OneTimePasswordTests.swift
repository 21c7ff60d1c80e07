import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// The flows of Documentation/Protocol/OAuth.md §6.4 and §6.6 in raw requests.
@Suite("Authenticator app codes in direct authentication")
struct OneTimePasswordTests {
    /// A server where Jane has an authenticator app.
    private struct App: Sendable {
        let server: PushServer
        let secret: [UInt8]

        init(_ server: PushServer) async throws {
            self.server = server
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let context = RequestContext(now: server.clock.now, requestID: "enrollment")
            let offer = try #require(try await server.engine.grantAuthenticatorApp(userID: id, context: context))
            secret = try #require(Base32.decode(offer.secret))
        }

        func code(after steps: Int64 = 0) -> String {
            TimeBasedCode.code(secret: secret, step: TimeBasedCode.step(at: server.clock.now) + steps)
        }

        var wrongCode: String {
            let shown = (-1...1).map { code(after: $0) }
            return ["000000", "111111", "222222", "333333"].first { !shown.contains($0) } ?? ""
        }
    }

    private static func second(_ client: DirectClient, _ token: String, _ code: String, _ more: [String: String] = [:]) async throws
        -> WireResponse
    {
        try await client.post(
            "token", ["grant_type": PushOrganization.secondFactorOTP, "mfa_token": token, "otp": code].merging(more) { $1 })
    }

    private static func first(_ client: DirectClient, _ code: String, _ more: [String: String] = [:]) async throws -> WireResponse {
        try await client.post(
            "token",
            ["grant_type": PushOrganization.otp, "login_hint": PushOrganization.jane, "otp": code, "scope": "openid"].merging(more) { $1 })
    }

    @Test(
        "If the policy requires two factors, a password returns mfa_required, and an authenticator app code then returns tokens once",
        arguments: [DirectClient.custom, DirectClient.org])
    func secondFactor(_ base: String) async throws {
        try await PushServer.with { server in
            let app = try await App(server)
            let client = DirectClient(server, base: base)
            let asked = try await client.password()
            #expect(asked.status == 403)
            #expect(try asked.json["supported_challenge_types"] == .string(PushOrganization.secondFactorOTP))
            let token = try #require(try asked.json["mfa_token"]?.stringValue)
            // A wrong code does not consume the token.
            try expectRefusal(try await Self.second(client, token, app.wrongCode), 400, "invalid_grant")
            let tokens = try await IssuedTokens(Self.second(client, token, app.code()), keysFrom: base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "otp", "mfa"])
            #expect(tokens.body["scope"] == "openid")
            try expectRefusal(try await Self.second(client, token, app.code(after: 1)), 400, "invalid_grant")
        }
    }

    @Test("A challenge for an authenticator app code returns only the challenge type")
    func challenge() async throws {
        try await PushServer.with { server in
            let app = try await App(server)
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            let response = try await client.post(
                "challenge", ["mfa_token": token, "challenge_types_supported": PushOrganization.secondFactorOTP])
            #expect(response.status == 200)
            #expect(try response.json == ["challenge_type": .string(PushOrganization.secondFactorOTP)])
            expectProtocolHeaders(response)
            #expect(try await Self.second(client, token, app.code()).status == 200)
        }
    }

    @Test(
        "An authenticator app code as the first factor gets tokens if one factor is enough, and access_denied if two factors are required")
    func firstFactor() async throws {
        try await PushServer.with { server in
            let app = try await App(server)
            let tokens = try await IssuedTokens(
                Self.first(DirectClient(server, id: "easy-app"), app.code()), keysFrom: DirectClient.custom, server.wire)
            #expect(tokens.idToken["amr"] == ["otp"])
            try expectRefusal(try await Self.first(DirectClient(server), app.code(after: 1)), 400, "access_denied")
        }
    }

    /// A rejected request with its expected error.
    struct Row: Sendable, CustomTestStringConvertible {
        var why: String
        var client = "direct-app"
        var changes: [String: String]
        var status = 400
        var error: String
        var testDescription: String { "\(why): \(status) \(error)" }
    }

    static let secondFactorRows = [
        Row(why: "no mfa_token", changes: ["mfa_token": ""], error: "invalid_request"),
        Row(why: "no code", changes: ["otp": ""], error: "invalid_request"),
        Row(why: "the mfa_token is unknown", changes: ["mfa_token": "mfa_unknown"], error: "invalid_grant"),
        Row(why: "the code is wrong", changes: ["otp": "12345"], error: "invalid_grant"),
        Row(why: "the code is no code", changes: ["otp": "ü \" x"], error: "invalid_grant"),
        Row(why: "the mfa_token is another client's", client: "easy-app", changes: [:], error: "invalid_grant"),
        Row(why: "the grant is not enabled", client: "other-app", changes: [:], error: "unauthorized_client"),
        Row(why: "the client is unknown", client: "unknown", changes: [:], status: 401, error: "invalid_client"),
    ]

    @Test(
        "A rejected request with a one-time password as the second factor returns its documented error and keeps the mfa_token valid (OAuth.md §2.4.10)"
    )
    func secondFactorErrors() async throws {
        try await PushServer.with { server in
            let app = try await App(server)
            let token = try await DirectClient(server).mfaToken()
            for row in Self.secondFactorRows {
                let response = try await Self.second(DirectClient(server, id: row.client), token, app.code(), row.changes)
                #expect(response.status == row.status, "\(row.why): \(response.body)")
                #expect(try response.json["error"] == .string(row.error), "\(row.why)")
            }
            #expect(try await Self.second(DirectClient(server), token, app.code()).status == 200)
        }
    }

    static let firstFactorRows = [
        Row(why: "no login_hint", changes: ["login_hint": ""], error: "invalid_request"),
        Row(why: "no code", changes: ["otp": ""], error: "invalid_request"),
        Row(why: "no scope", changes: ["scope": ""], error: "invalid_scope"),
        Row(why: "the user name is unknown", changes: ["login_hint": "unknown@example.com"], error: "invalid_grant"),
        Row(why: "the person has no app", changes: ["login_hint": PushOrganization.john], error: "invalid_grant"),
        Row(why: "the account is suspended", changes: ["login_hint": "suspended@example.com"], error: "invalid_grant"),
        Row(why: "the grant is not enabled", client: "other-app", changes: [:], error: "unauthorized_client"),
    ]

    @Test("A rejected request with a one-time password as the first factor returns its documented error (OAuth.md §2.4.10, §2.16)")
    func firstFactorErrors() async throws {
        try await PushServer.with { server in
            let app = try await App(server)
            for row in Self.firstFactorRows {
                let client = DirectClient(server, id: row.client == "direct-app" ? "easy-app" : row.client)
                let response = try await Self.first(client, app.code(), row.changes)
                #expect(response.status == row.status, "\(row.why): \(response.body)")
                #expect(try response.json["error"] == .string(row.error), "\(row.why)")
            }
        }
    }

    @Test("A client that does not support the user's only second factor gets access_denied instead of mfa_required")
    func unsupported() async throws {
        try await PushServer.with { server in
            _ = try await App(server)
            let client = DirectClient(server)
            try expectRefusal(
                try await client.password(["grant_types_supported": "password \(PushOrganization.secondFactorOOB)"]), 400, "access_denied")
            #expect(try await client.password(["grant_types_supported": "password \(PushOrganization.secondFactorOTP)"]).status == 403)
        }
    }
}
