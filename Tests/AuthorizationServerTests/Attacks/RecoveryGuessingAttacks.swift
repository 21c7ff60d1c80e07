import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Attackers who request recovery codes for a user name and guess them.
@Suite("Attacks: recovery code guessing")
struct RecoveryGuessingAttacks {
    private static let policy = ClassicPolicy(signOnPolicy: "one factor", recovery: [.sms])

    private static func attack(
        _ change: (inout PushOrganization) -> Void = { _ in }, _ body: @Sendable (PushServer) async throws -> Void
    ) async throws {
        var organization = PushOrganization(classic: policy)
        change(&organization)
        organization.trustsForwardedAddresses = true
        try await PushServer.with(organization) { server in
            try await server.give(.sms, "+49 30 5550123")
            try await body(server)
        }
    }

    private static func client(_ server: PushServer, _ address: String) -> ClassicClient {
        ClassicClient(server, headers: [("X-Forwarded-For", address)])
    }

    /// Requests a recovery, and returns its status and the code, or `nil` if no code was sent.
    private static func begin(_ client: ClassicClient, _ login: String = PushOrganization.jane) async throws -> (ClassicStatus, String?) {
        let before = try await sent(client.server)
        let status = try ClassicStatus(
            try await client.post("/recovery/password", ["username": .string(login), "factorType": "sms"]))
        return (status, try await sent(client.server) > before ? try await client.server.messages.code() : nil)
    }

    /// Returns the number of codes that the server sent.
    private static func sent(_ server: PushServer) async throws -> Int {
        try await server.engine.systemLog(SystemLogQuery(since: .distantPast, typePrefix: "user.mfa.code.send", limit: 1_000)).events
            .count { $0.outcome == .success }
    }

    private static func guess(_ client: ClassicClient, _ status: ClassicStatus, _ code: String) async throws -> WireResponse {
        try await client.follow(status.next, of: status, ["passCode": .string(code)])
    }

    /// Sends up to five wrong codes.
    ///
    /// - Returns: The number of codes that were sent.
    private static func guessWrong(_ client: ClassicClient) async throws -> Int {
        let (status, code) = try await begin(client)
        for _ in 0..<5 { _ = try await guess(client, status, code == "000000" ? "000001" : "000000") }
        client.server.clock.advance(by: 3_601)
        return code == nil ? 0 : 1
    }

    @Test("After 100 wrong recovery codes over several days, no recovery code is sent until the user signs in")
    func lastingLimit() async throws {
        try await Self.attack { server in
            let attacker = Self.client(server, "203.0.113.66")
            var guesses = 0
            for _ in 0..<40 {
                guesses += 5 * (try await Self.guessWrong(attacker))
                guesses += 5 * (try await Self.guessWrong(attacker))
                server.clock.advance(by: 86_400)
            }
            #expect(guesses == 100)
            let (status, code) = try await Self.begin(attacker)
            // No further code is sent; the response does not reveal this.
            #expect(status.name == "RECOVERY_CHALLENGE" && code == nil)
            server.clock.advance(by: 3_601)
            #expect(try await Self.client(server, "198.51.100.7").begin().name == "SUCCESS")
            let (open, right) = try await Self.begin(attacker)
            let answer = try await Self.guess(attacker, open, try #require(right))
            #expect(try ClassicStatus(answer).name == "PASSWORD_RESET")
        }
    }

    @Test("When the hourly budget of wrong recovery codes is exhausted, the server rejects codes from unknown addresses and logs the event")
    func budget() async throws {
        try await Self.attack {
            $0.rateLimits.recoveryGuesses = 6
        } _: { server in
            try await server.give(.sms, "+49 30 5550177", to: PushOrganization.john)
            let home = Self.client(server, "198.51.100.7")
            #expect(try await home.begin().name == "SUCCESS")
            let attacker = Self.client(server, "203.0.113.66")
            // This recovery starts before the budget is spent. The correct guess follows afterwards.
            let (waiting, right) = try await Self.begin(attacker, PushOrganization.john)
            let (open, code) = try await Self.begin(attacker)
            for _ in 0..<3 { _ = try await Self.guess(attacker, open, code == "000000" ? "000001" : "000000") }
            for _ in 0..<3 { _ = try await Self.guess(attacker, waiting, right == "000000" ? "000001" : "000000") }
            try expectClassicRefusal(try await Self.guess(attacker, waiting, try #require(right)), 403, "E0000068", causes: 1)
            try expectClassicRefusal(try await Self.guess(attacker, open, try #require(code)), 403, "E0000068", causes: 1)
            #expect(try await server.logged("security.recovery.budget") == 1)
            // The owner at a known address recovers.
            server.clock.advance(by: 60)
            let (own, mine) = try await Self.begin(home)
            #expect(try ClassicStatus(try await Self.guess(home, own, try #require(mine))).name == "PASSWORD_RESET")
            // The next hour has its own budget.
            server.clock.advance(by: 3_600)
            let (later, fresh) = try await Self.begin(attacker, PushOrganization.john)
            #expect(try ClassicStatus(try await Self.guess(attacker, later, try #require(fresh))).name == "PASSWORD_RESET")
        }
    }

    @Test("After ten wrong recovery codes in a day, no code is sent until the next day, even to a new phone number")
    func dailyLimit() async throws {
        try await Self.attack { server in
            let attacker = Self.client(server, "203.0.113.66")
            _ = try await Self.guessWrong(attacker)
            _ = try await Self.guessWrong(attacker)
            try await server.give(.sms, "+49 30 5550199")
            let (_, code) = try await Self.begin(attacker)
            #expect(code == nil)
            server.clock.advance(by: 86_400)
            #expect(try await Self.begin(attacker).1 != nil)
        }
    }
}
