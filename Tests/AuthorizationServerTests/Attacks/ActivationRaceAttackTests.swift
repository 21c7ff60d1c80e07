import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Concurrent requests with activation tokens of a user that an administrator created.
@Suite("Attacks: activation token races")
struct ActivationRaceAttackTests {
    private static let portal = "a-token-of-the-portal-0123456789"
    private static let password = "First-Horse-1"
    private static let rounds = 8

    private static func with(_ body: @Sendable (PushServer) async throws -> Void) async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "one factor", trustedCallers: [.init(name: "portal", token: portal)])
        try await PushServer.with(PushOrganization(classic: policy), body)
    }

    /// Requests an activation token for the newcomer, as a back end does.
    private static func issue(_ server: PushServer) async throws -> WireResponse {
        try await server.wire.call(
            "POST", "/api/v1/users/nora.newman%40example.com/lifecycle/activate?sendEmail=false",
            headers: [("Authorization", "SSWS \(portal)")])
    }

    private static func token(_ server: PushServer) async throws -> String {
        try #require(try await issue(server).json["activationToken"]?.stringValue)
    }

    /// Begins the activation with a token.
    private static func begin(_ server: PushServer, _ token: String) async throws -> WireResponse {
        try await ClassicClient(server).post("", ["token": .string(token)])
    }

    /// Sets the first password in an activation.
    private static func finish(
        _ server: PushServer, _ begun: WireResponse, _ password: String = password
    ) async throws -> WireResponse {
        let state = try begun.json["stateToken"] ?? .string("none")
        return try await ClassicClient(server).post(
            "/credentials/reset_password", ["stateToken": state, "newPassword": .string(password)])
    }

    private static func newcomer(_ server: PushServer) async throws -> User {
        try #require(try await server.engine.user(login: PushOrganization.newcomer))
    }

    /// Sends concurrent requests.
    private static func atOnce(
        _ count: Int, _ request: @escaping @Sendable () async throws -> WireResponse
    ) async throws -> [WireResponse] {
        try await withThrowingTaskGroup(of: WireResponse.self) { group in
            for _ in 0..<count { group.addTask { try await request() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("If several requests use one activation token at once, exactly one activation begins, and exactly one password is set")
    func parallelActivations() async throws {
        for _ in 0..<Self.rounds {
            try await Self.with { server in
                let token = try await Self.token(server)
                let begun = try await Self.atOnce(10) { try await Self.begin(server, token) }
                #expect(
                    begun.count { $0.status == 200 } == 1
                        && begun.allSatisfy { $0.status == 200 || $0.status == 401 })
                let winner = try #require(begun.first { $0.status == 200 })
                #expect(try ClassicStatus(winner).name == "PASSWORD_RESET")
                // Concurrent requests finish the same activation, each with another password.
                let finished = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                    for index in 1...6 {
                        let password = "First-Horse-\(index)"
                        group.addTask { (try await Self.finish(server, winner, password).status, password) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let set = finished.filter { $0.0 == 200 }
                #expect(set.count == 1, "\(finished)")
                let (lost, won) = (try #require(finished.first { $0.0 != 200 }), try #require(set.first))
                #expect(try await ClassicClient(server).signIn(PushOrganization.newcomer, lost.1).status == 401)
                #expect(try await ClassicClient(server).signIn(PushOrganization.newcomer, won.1).status == 200)
            }
        }
    }

    @Test("Concurrent requests for activation tokens all succeed, and exactly one of the tokens is valid")
    func parallelTokens() async throws {
        for _ in 0..<Self.rounds {
            try await Self.with { server in
                let issued = try await Self.atOnce(16) { try await Self.issue(server) }
                #expect(issued.allSatisfy { $0.status == 200 }, "\(issued.map(\.status))")
                let tokens = try issued.map { try #require(try $0.json["activationToken"]?.stringValue) }
                #expect(Set(tokens).count == tokens.count)
                var good = 0
                for token in tokens {
                    if try await Self.begin(server, token).status == 200 { good += 1 }
                }
                #expect(good == 1)
            }
        }
    }

    @Test("An activation that begins while a newer activation token is issued cannot finish, and the newer token activates the account")
    func activationAgainstToken() async throws {
        for _ in 0..<Self.rounds {
            try await Self.with { server in
                let first = try await Self.token(server)
                async let beginning = Self.begin(server, first)
                async let issuing = Self.issue(server)
                let (begun, issued) = try await (beginning, issuing)
                // The user had no password yet, so the newer token was issued. It invalidates the older token and its activation.
                let second = try #require(try issued.json["activationToken"]?.stringValue, "\(issued.body)")
                #expect(try await Self.finish(server, begun).status == 401)
                #expect(try await Self.newcomer(server).status == .staged)
                let last = try await Self.begin(server, second)
                #expect(try await Self.finish(server, last).status == 200)
                #expect(try await Self.newcomer(server).status == .active)
            }
        }
    }

    @Test("An activation that races with a deactivation leaves the account deactivated and starts no session")
    func activationAgainstDeactivation() async throws {
        // The first two rounds are the two possible orders; the others are races.
        for round in 0..<Self.rounds {
            try await Self.with { server in
                let id = try await Self.newcomer(server).id
                let context = RequestContext(now: server.clock.now, requestID: "deactivation")
                let begun = try await Self.begin(server, try await Self.token(server))
                @Sendable func deactivate() async throws {
                    _ = try await server.engine.setStatus(userID: id, to: .deactivated, context: context)
                }
                if round == 1 { try await deactivate() }
                async let finishing = Self.finish(server, begun)
                if round == 0 { _ = try await finishing }
                async let deactivating: Void = deactivate()
                let (finished, _) = try await (finishing, deactivating)
                #expect(round != 0 || finished.status == 200)
                #expect(round != 1 || finished.status == 401)
                #expect(try await Self.newcomer(server).status == .deactivated)
                #expect(
                    try await ClassicClient(server).signIn(PushOrganization.newcomer, Self.password).status
                        == 401)
                guard finished.status == 200 else {
                    try expectClassicRefusal(finished, 401, "E0000011")
                    return
                }
                // The activation was first, and the deactivation invalidated its session token.
                let session = try #require(try finished.json["sessionToken"]?.stringValue, "\(finished.body)")
                let sessions = try await server.wire.call(
                    "POST", "/api/v1/sessions", headers: [("Content-Type", "application/json")],
                    body: (["sessionToken": .string(session)] as JSONValue).serialized())
                #expect(try sessions.status == 401 && sessions.json["errorCode"] == "E0000011", "\(sessions.body)")
                #expect(sessions["Set-Cookie"] == nil)
            }
        }
    }

    @Test("Endpoints for other kinds of tokens reject an activation token and do not consume it")
    func confusion() async throws {
        try await Self.with { server in
            let token = try await Self.token(server)
            let client = ClassicClient(server)
            let value: JSONValue = .string(token)
            for (path, body) in [
                ("", ["stateToken": value]), ("/recovery/token", ["recoveryToken": value]),
                ("/cancel", ["stateToken": value]),
                (
                    "/credentials/reset_password",
                    ["stateToken": value, "newPassword": .string(Self.password)]
                ),
            ] as [(String, JSONValue)] {
                try expectClassicRefusal(try await client.post(path, body), 401, "E0000011")
            }
            #expect(
                try await server.wire.call(
                    "POST", "/api/v1/sessions", headers: [("Content-Type", "application/json")],
                    body: (["sessionToken": value] as JSONValue).serialized()
                ).status == 401)
            for other in [
                token.uppercased(), token + " ", " " + token, token.dropLast() + "",
                String(repeating: "a", count: 65),
            ] {
                try expectClassicRefusal(
                    try await client.post("", ["token": .string(String(other))]), 401, "E0000004")
            }
            #expect(try ClassicStatus(try await Self.begin(server, token)).name == "PASSWORD_RESET")
        }
    }
}
