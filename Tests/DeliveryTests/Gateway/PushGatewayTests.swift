import CountersignSandbox
import Delivery
import Foundation
import JOSE
import NIOConcurrencyHelpers
import Testing

@Suite("Local push gateway", .timeLimit(.minutes(2)))
struct PushGatewayTests {
    // MARK: - Devices

    @Test("The local push gateway delivers a push only to the device with the push's token")
    func delivers() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.register(deviceToken: "aa11", topic: PushTestbed.topic, environment: .development) { _ in
                Issue.record("another device")
            }
            #expect(await bed.sender.send(bed.push(payload: #"{"n":1}"#)).isDelivered)
            await bed.gateway.stop()
            #expect(bed.delivered == [#"{"n":1}"#])
        }
    }

    @Test("The local push gateway rejects a push to an unknown device, another app or a removed app with the APNs reason")
    func devices() async throws {
        try await PushTestbed.run { (bed) async throws in
            #expect(await bed.sender.send(bed.push(to: "abc")) == .tokenDead(since: nil))
            #expect(await bed.sender.send(bed.push(to: "abcd")) == .tokenDead(since: nil))
            let key = try #require(bed.signingKey.publicKey)
            try bed.gateway.trust(
                teamID: PushTestbed.teamID, keyID: PushTestbed.keyID, publicKey: key, topics: [PushTestbed.topic, "com.example.other"])
            #expect(await bed.sender.send(bed.push(topic: "com.example.other")) == .tokenDead(since: nil))
            bed.clock.advance(by: 0.25)
            bed.gateway.unregister(deviceToken: PushTestbed.deviceToken)
            bed.clock.advance(by: 10)
            #expect(await bed.sender.send(bed.push()) == .tokenDead(since: PushTestbed.start.addingTimeInterval(0.25)))
            bed.register()
            #expect(await bed.sender.send(bed.push()).isDelivered)
            #expect(
                bed.gateway.received.map(\.reason) == ["BadDeviceToken", "BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered", nil])
        }
    }

    @Test("The local push gateway stores the newest push for an unreachable device until the push expires")
    func outOfReach() async throws {
        try await PushTestbed.run { (bed) async throws in
            await bed.gateway.setReachable(false, deviceToken: PushTestbed.deviceToken)
            #expect(await bed.sender.send(bed.push(payload: "1")).isDelivered)
            #expect(await bed.sender.send(bed.push(payload: "2", expiresIn: 300)).isDelivered)
            bed.clock.advance(by: 299)
            await bed.gateway.setReachable(true, deviceToken: PushTestbed.deviceToken)
            #expect(bed.delivered == ["2"])
            await bed.gateway.setReachable(true, deviceToken: PushTestbed.deviceToken)
            #expect(bed.delivered == ["2"])

            await bed.gateway.setReachable(false, deviceToken: PushTestbed.deviceToken)
            #expect(await bed.sender.send(bed.push(payload: "3", expiresIn: 300)).isDelivered)
            bed.clock.advance(by: 300)
            await bed.gateway.setReachable(true, deviceToken: PushTestbed.deviceToken)
            #expect(bed.delivered == ["2"])
        }
    }

    // MARK: - Strictness

    @Test("The local push gateway rejects a provider token with another key, team or key ID")
    func providers() async throws {
        try await PushTestbed.run { (bed) async throws in
            let pem = try #require(bed.signingKey.privatePEM)
            let otherPEM = try #require(SigningKey.generate(.es256).privatePEM)
            for (team, keyID, key) in [
                (PushTestbed.teamID, PushTestbed.keyID, otherPEM), ("TEAM222222", PushTestbed.keyID, pem),
                (PushTestbed.teamID, "KEY2222222", pem),
            ] {
                let credentials = try APNsCredentials(teamID: team, keyID: keyID, privateKeyPEM: key)
                #expect(
                    await bed.sender.send(bed.push(credentials: credentials)) == .refused(reason: "InvalidProviderToken", status: 403))
            }
            #expect(await bed.sender.send(bed.push()).isDelivered)
        }
    }

    @Test(
        "The local push gateway rejects a provider token that is older than one hour as expired, and a provider token from the future as invalid"
    )
    func clocks() async throws {
        try await PushTestbed.run { (bed) async throws in
            func outcome(clockOffBy seconds: Double) async throws -> PushOutcome {
                let clock = bed.clock
                let timing = PushTiming(now: { clock.now.addingTimeInterval(seconds) }, sleep: { _ in }, jitter: { 0 })
                return try await bed.withSender(timing: timing) { await $0.send(bed.push(expiresIn: 3600)) }
            }
            #expect(try await outcome(clockOffBy: -3600).isDelivered)
            #expect(try await outcome(clockOffBy: -3601) == .refused(reason: "ExpiredProviderToken", status: 403))
            #expect(try await outcome(clockOffBy: 300).isDelivered)
            #expect(try await outcome(clockOffBy: 301) == .refused(reason: "InvalidProviderToken", status: 403))
        }
    }

    @Test("The local push gateway rejects a push with another topic, an invalid header, or an empty or too large payload")
    func requests() async throws {
        try await PushTestbed.run { (bed) async throws in
            #expect(await bed.sender.send(bed.push(topic: "com.example.other")) == .refused(reason: "TopicDisallowed", status: 400))
            #expect(await bed.sender.send(bed.push(payload: "")) == .refused(reason: "PayloadEmpty", status: 400))
            #expect(await bed.sender.send(bed.push(payload: String(repeating: "x", count: 4096))).isDelivered)
            for size in [4097, 100_000] {
                let push = bed.push(payload: String(repeating: "x", count: size))
                #expect(await bed.sender.send(push) == .refused(reason: "PayloadTooLarge", status: 413))
            }
            #expect(await bed.sender.send(bed.push(collapseID: String(repeating: "x", count: 64))).isDelivered)
            let long = bed.push(collapseID: String(repeating: "x", count: 65))
            #expect(await bed.sender.send(long) == .refused(reason: "BadCollapseId", status: 400))
            var push = bed.push()
            push.pushType = .background
            #expect(await bed.sender.send(push) == .refused(reason: "BadPriority", status: 400))
            push = bed.push()
            push.id = "1234"
            #expect(await bed.sender.send(push) == .refused(reason: "BadMessageId", status: 400))
        }
    }

    // MARK: - Misbehaviour

    @Test("A push that the local push gateway duplicates is delivered twice and answered once")
    func duplicate() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.duplicate)
            #expect(await bed.sender.send(bed.push(payload: "1")).isDelivered)
            #expect(await bed.sender.send(bed.push(payload: "2")).isDelivered)
            await bed.gateway.stop()
            #expect(bed.delivered.sorted() == ["1", "1", "2"])
            #expect(bed.gateway.received.count == 2)
        }
    }

    @Test("A push that the local push gateway delays is answered when the clock has advanced by the delay")
    func delay() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.delay(seconds: 60))
            let push = bed.push()
            async let outcome = bed.sender.send(push)
            await bed.gateway.waitForArrivals(1)
            await bed.clock.waitForSleepers(1)
            bed.clock.advance(by: 59)
            await bed.clock.waitForSleepers(1)
            #expect(bed.gateway.received.isEmpty)
            bed.clock.advance(by: 1)
            #expect(await outcome.isDelivered)
        }
    }

    @Test("A slow device does not delay the local push gateway's response")
    func slowDevice() async throws {
        try await PushTestbed.run { (bed) async throws in
            let (done, device) = AsyncStream.makeStream(of: Never.self)
            bed.gateway.register(deviceToken: "aa11", topic: PushTestbed.topic, environment: .development) { _ in for await _ in done {} }
            #expect(await bed.sender.send(bed.push(to: "aa11")).isDelivered)
            #expect(await bed.sender.send(bed.push()).isDelivered)
            device.finish()
        }
    }

    @Test("The local push gateway can be stopped while a push waits for a response, and can be stopped twice")
    func stops() async throws {
        try await PushTestbed.run(configure: { $0.retry.attempts = 1 }) { (bed) async throws in
            bed.gateway.misbehave(.hold)
            let push = bed.push()
            async let outcome = bed.sender.send(push)
            await bed.gateway.waitForArrivals(1)
            await bed.gateway.stop()
            await bed.gateway.stop()
            #expect(await !outcome.isDelivered)
            #expect(bed.gateway.received.isEmpty)
        }
    }
}
