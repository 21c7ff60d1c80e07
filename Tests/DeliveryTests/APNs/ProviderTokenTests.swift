import CountersignSandbox
import Delivery
import Foundation
import JOSE
import Testing

@Suite("APNs provider tokens")
struct ProviderTokenTests {
    @Test("An APNs provider token is used for 50 minutes, and then replaced")
    func isCached() async throws {
        try await PushTestbed.run { (bed) async throws in
            for _ in 0..<3 { _ = await bed.sender.send(bed.push()) }
            bed.clock.advance(by: 50 * 60 - 1)
            _ = await bed.sender.send(bed.push())
            #expect(Set(bed.tokens).count == 1)
            bed.clock.advance(by: 1)
            let push = bed.push()
            #expect(await bed.sender.send(push) == .delivered(id: push.id))
            #expect(Set(bed.tokens).count == 2)
            #expect(try bed.tokens.last.map { try claims($0)["iat"] } == 1_800_003_000)
        }
    }

    @Test("Concurrent pushes share one APNs provider token")
    func concurrentPushes() async throws {
        try await PushTestbed.run { (bed) async throws in
            await bed.sendAtOnce(40)
            bed.clock.advance(by: 51 * 60)
            await bed.sendAtOnce(40)
            #expect(bed.gateway.received.map(\.status) == Array(repeating: 200, count: 80))
            #expect(Set(bed.tokens).count == 2)
        }
    }

    @Test("Concurrent pushes that fail with ExpiredProviderToken replace the provider token only once")
    func concurrentRenewal() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answer(status: 403, reason: "ExpiredProviderToken"), times: 10)
            let outcomes = await bed.sendAtOnce(10)
            #expect(outcomes.filter(\.isDelivered).count == 10)
            #expect(Set(bed.tokens).count == 2)
        }
    }

    @Test("If the push service reports a new provider token as expired, the sender creates no further provider token for 20 minutes")
    func expiredForEver() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answer(status: 403, reason: "ExpiredProviderToken"), times: 4)
            #expect(await bed.sender.send(bed.push()) == .refused(reason: "ExpiredProviderToken", status: 403))
            #expect(bed.gateway.received.count == 2)
            // Further pushes do not request more tokens than the service allows.
            #expect(await bed.sender.send(bed.push()) == .refused(reason: "ExpiredProviderToken", status: 403))
            #expect(bed.gateway.received.count == 3)
            #expect(Set(bed.tokens).count == 2)
            // After 20 minutes, the sender may create another provider token.
            bed.clock.advance(by: 20 * 60)
            let push = bed.push()
            #expect(await bed.sender.send(push) == .delivered(id: push.id))
            #expect(bed.gateway.received.map(\.status) == [403, 403, 403, 403, 200])
            #expect(Set(bed.tokens).count == 3)
        }
    }

    @Test("If the clock was set back by more than a minute, the APNs provider token is replaced")
    func clockSetBack() async throws {
        try await PushTestbed.run { (bed) async throws in
            _ = await bed.sender.send(bed.push())
            bed.clock.advance(by: -60)
            _ = await bed.sender.send(bed.push())
            #expect(Set(bed.tokens).count == 1)
            bed.clock.advance(by: -1)
            _ = await bed.sender.send(bed.push())
            #expect(Set(bed.tokens).count == 2)
            #expect(try bed.tokens.last.map { try claims($0)["iat"] } == 1_799_999_939)
        }
    }

    @Test("Each APNs key has its own provider token and connection")
    func severalCredentials() async throws {
        try await PushTestbed.run { (bed) async throws in
            let sameTeam = try bed.trust(teamID: PushTestbed.teamID, keyID: "KEY2222222")
            let otherTeam = try bed.trust(teamID: "TEAM222222", keyID: "KEY3333333")
            for _ in 0..<2 {
                for credentials in [bed.credentials, sameTeam, otherTeam] {
                    #expect(await bed.sender.send(bed.push(credentials: credentials)).isDelivered)
                }
            }
            #expect(Set(bed.tokens).count == 3)
            #expect(bed.gateway.received.map(\.connection) == [1, 2, 3, 1, 2, 3])
            #expect(
                try bed.tokens.prefix(3).map { try JSONWebSignature(parsing: $0).keyID } == [PushTestbed.keyID, "KEY2222222", "KEY3333333"])
            #expect(try bed.tokens.prefix(3).map { try claims($0)["iss"] } == ["TEAM123456", "TEAM123456", "TEAM222222"])
        }
    }

    private func claims(_ token: String) throws -> JSONValue {
        try JSONValue(parsing: JSONWebSignature(parsing: token).payload)
    }
}
