import Foundation
import TestSupport
import Testing

/// Attackers who know only a user name, and send many pushes to this user.
@Suite("Attacks: push flooding")
struct PushFloodingAttacks {
    private static let home = "198.51.100.7"

    private static func attack(_ body: @Sendable (DirectClient, WirePhone) async throws -> Void) async throws {
        var organization = PushOrganization()
        organization.trustsForwardedAddresses = true
        try await PushServer.with(organization) { server in
            let phone = try await server.enroll(.init(verifiesUser: true))
            try await body(DirectClient(server, id: "easy-app"), phone)
        }
    }

    /// Returns a client whose requests come from its back end.
    private static func backEnd(_ client: DirectClient) -> DirectClient {
        DirectClient(client.server, id: "back-end", additional: ["client_secret": "back-end-secret-01234"]).at("10.1.2.3")
    }

    /// Approves the most recent challenge.
    private static func approveNewest(_ phone: WirePhone) async throws {
        let newest = try #require(try await phone.waiting().last)
        #expect(try await phone.answer(newest).status == 200)
    }

    private static func expectTooMany(_ response: WireResponse, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(response.status == 429, "\(response.body)", sourceLocation: sourceLocation)
    }

    @Test("Push requests that an attacker sends without a password do not block the owner's push sign-in from another address")
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

    @Test("An attacker with many addresses sends at most ten unapproved pushes a day to one user")
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

    @Test("Limits on pushes without a password do not apply after a correct password or at an address that the owner has used")
    func ownerIsExempt() async throws {
        try await Self.attack { client, phone in
            let known = try await client.at(Self.home).primaryCode()
            try await phone.approve()
            #expect(try await client.at(Self.home).pollPrimary(known).status == 200)
            for number in 1...60 { _ = try await client.at("203.0.113.\(number)").primary() }
            // These are more than an attacker could send from one address within five minutes.
            for number in 61...70 { Self.expectTooMany(try await client.at("203.0.113.\(number)").primary()) }
            for _ in 0..<3 { #expect(try await client.at(Self.home).primary().status == 200) }
            let strict = DirectClient(client.server).at("192.0.2.44")
            client.server.clock.advance(by: 1)
            let pending = try await strict.begin()
            try await Self.approveNewest(phone)
            #expect(try await strict.poll(pending).status == 200)
        }
    }

    /// Signs the owner in at an address by a push, so that the address is known.
    private static func signIn(_ client: DirectClient, _ phone: WirePhone) async throws {
        let code = try await client.primaryCode()
        try await approveNewest(phone)
        #expect(try await client.pollPrimary(code).status == 200)
    }

    @Test("Pushes that a known network requests without a password do not count against the limit of five pushes after the password")
    func provedPasswordIsExempt() async throws {
        try await Self.attack { client, phone in
            try await Self.signIn(client.at(Self.home), phone)
            for _ in 0..<4 { #expect(try await client.at(Self.home).primary().status == 200) }
            Self.expectTooMany(try await client.at(Self.home).primary())
            let strict = DirectClient(client.server).at(Self.home)
            let token = try await strict.mfaToken()
            for _ in 0..<5 { #expect(try await strict.challenge(token).status == 200) }
            Self.expectTooMany(try await strict.challenge(token))
        }
    }

    @Test("An attacker who shares a network with the owner sends at most ten unapproved pushes a day without the password")
    func dailyCapOfSharedNetwork() async throws {
        try await Self.attack { client, phone in
            let home = client.at(Self.home)
            // Pushes that the owner approves don't count.
            for _ in 0..<12 { try await Self.signIn(home, phone) }
            var sent = 0
            for _ in 0..<4 {
                for _ in 0..<4 {
                    let answer = try await home.primary()
                    if answer.status == 200 { sent += 1 } else { Self.expectTooMany(answer) }
                }
                client.server.clock.advance(by: 301)
            }
            #expect(sent == 10)
            // For the owner's other network, and for a sign-in that proved the password, no limit is exceeded.
            let elsewhere = client.at("192.0.2.44")
            try await Self.signIn(elsewhere, phone)
            for _ in 0..<4 { #expect(try await elsewhere.primary().status == 200) }
            let strict = DirectClient(client.server).at(Self.home)
            #expect(try await strict.challenge(strict.mfaToken()).status == 200)
            client.server.clock.advance(by: 86_400)
            #expect(try await home.primary().status == 200)
        }
    }

    @Test("An attacker who names a new device in each request can send at most two pushes from one network")
    func inventedDevices() async throws {
        try await Self.attack { client, _ in
            let backEnd = Self.backEnd(client)
            for number in 1...6 {
                let answer = try await backEnd.with(device: "invented-device-\(number)").primary()
                if number <= 2 { #expect(answer.status == 200) } else { Self.expectTooMany(answer) }
            }
        }
    }

    @Test("Push limits for unknown origins apply to a back end's address even after a sign-in, but not to a device that the owner has used")
    func backEnd() async throws {
        try await Self.attack { client, phone in
            let backEnd = Self.backEnd(client)
            let own = backEnd.with(device: "a-device-of-jane")
            let code = try await own.primaryCode()
            #expect(try await phone.answer(try #require(try await phone.waiting().last), .approveVerified).status == 200)
            #expect(try await own.pollPrimary(code).status == 200)
            for _ in 0..<2 { #expect(try await backEnd.primary().status == 200) }
            Self.expectTooMany(try await backEnd.primary())
            for _ in 0..<12 {
                #expect(try await own.primary().status == 200)
                backEnd.server.clock.advance(by: 301)
            }
        }
    }

    @Test("Pushes from a device where only the password was proved have the limits of an unknown origin")
    func devicesOfPassword() async throws {
        try await Self.attack { client, _ in
            let device = "a-device-of-the-attacker"
            let desk = DirectClient(client.server, id: "mute-desk", additional: ["client_secret": "mute-desk-secret-0123"])
            #expect(try await desk.at("10.1.2.3").with(device: device).password().status == 200)
            let attacker = Self.backEnd(client).with(device: device)
            for _ in 0..<2 { #expect(try await attacker.primary().status == 200) }
            Self.expectTooMany(try await attacker.primary())
            var sent = 2
            for _ in 0..<12 {
                client.server.clock.advance(by: 301)
                if try await attacker.primary().status == 200 { sent += 1 }
            }
            #expect(sent == 10)
        }
    }

    @Test("Pushes from one device of the user do not count against the push limit of the user's other device")
    func twoDevices() async throws {
        try await Self.attack { client, phone in
            let devices = ["a-stolen-laptop", "a-device-of-jane"].map { Self.backEnd(client).with(device: $0) }
            for device in devices {
                let code = try await device.primaryCode()
                #expect(try await phone.answer(try #require(try await phone.waiting().last), .approveVerified).status == 200)
                #expect(try await device.pollPrimary(code).status == 200)
            }
            for _ in 0..<4 { #expect(try await devices[0].primary().status == 200) }
            Self.expectTooMany(try await devices[0].primary())
            for _ in 0..<4 { #expect(try await devices[1].primary().status == 200) }
            Self.expectTooMany(try await devices[1].primary())
        }
    }
}
