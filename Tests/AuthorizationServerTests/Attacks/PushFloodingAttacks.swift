import Foundation
import IdentityEngine
import Testing

/// Attackers who send pushes to a user of whom they know only the name.
@Suite("Attacks: push flooding")
struct PushFloodingAttacks {
    private static let home = "198.51.100.7"

    private static func attack(_ body: @Sendable (DirectClient, WirePhone) async throws -> Void) async throws {
        var organization = PushOrganization()
        organization.trustsForwardedAddresses = true
        try await PushServer.with(organization) { server in
            let phone = try await server.enroll()
            try await body(DirectClient(server, id: "easy-app"), phone)
        }
    }

    /// Approves the challenge that was asked last.
    private static func approveNewest(_ phone: WirePhone) async throws {
        let newest = try #require(try await phone.waiting().last)
        #expect(try await phone.answer(newest).status == 200)
    }

    private static func expectTooMany(_ response: WireResponse, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(response.status == 429, "\(response.body)", sourceLocation: sourceLocation)
    }

    @Test("Push requests that an attacker sends without a password do not block the owner's push sign-in from another address.")
    func ownerIsNotBlocked() async throws {
        try await Self.attack { client, phone in
            let attacker = client.at("203.0.113.66")
            for _ in 0..<2 { #expect(try await attacker.primary().status == 200) }
            Self.expectTooMany(try await attacker.primary())
            client.server.clock.advance(by: 1)
            let code = try await client.at(Self.home).primaryCode()
            try await Self.approveNewest(phone)
            #expect(try await client.at(Self.home).pollPrimary(code).status == 200)
        }
    }

    @Test("An attacker with many addresses sends at most ten unapproved pushes a day to one user.")
    func dailyCap() async throws {
        try await Self.attack { client, _ in
            var sent = 0
            for number in 1...60 {
                let answer = try await client.at("203.0.113.\(number)").primary()
                if answer.status == 200 { sent += 1 } else { Self.expectTooMany(answer) }
                client.server.clock.advance(by: 301)
            }
            #expect(sent == 10)
            client.server.clock.advance(by: 86_400)
            #expect(try await client.at("203.0.113.200").primary().status == 200)
        }
    }

    @Test("Neither limit on unproved pushes applies after the password or at an address that the owner has used.")
    func ownerIsExempt() async throws {
        try await Self.attack { client, phone in
            let known = try await client.at(Self.home).primaryCode()
            try await phone.approve()
            #expect(try await client.at(Self.home).pollPrimary(known).status == 200)
            for number in 1...60 { _ = try await client.at("203.0.113.\(number)").primary() }
            // Within five minutes, more than an attacker could send from one address.
            for number in 61...70 { Self.expectTooMany(try await client.at("203.0.113.\(number)").primary()) }
            for _ in 0..<3 { #expect(try await client.at(Self.home).primary().status == 200) }
            let strict = DirectClient(client.server).at("192.0.2.44")
            client.server.clock.advance(by: 1)
            let pending = try await strict.begin()
            try await Self.approveNewest(phone)
            #expect(try await strict.poll(pending).status == 200)
        }
    }
}
