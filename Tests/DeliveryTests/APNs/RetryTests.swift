import CountersignSandbox
import Delivery
import Foundation
import Testing

@Suite("Retries", .timeLimit(.minutes(2)))
struct RetryTests {
    static let busy = PushGatewayFault.answer(status: 503, reason: "ServiceUnavailable")

    @Test("Pauses double up to a maximum, and end after ten attempts")
    func pausesDouble() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(Self.busy, times: 20)
            #expect(await bed.sender.send(bed.push()) == .gaveUp(reason: "too many tries, after ServiceUnavailable"))
            #expect(bed.pausesTaken == [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
            #expect(bed.gateway.received.count == 10)
        }
    }

    @Test("Jitter shortens a pause by at most half", arguments: [(0.0, 0.25), (0.5, 0.375), (1.0, 0.5)])
    func jitter(_ chance: Double, _ seconds: Double) async throws {
        try await PushTestbed.run(jitter: chance) { (bed) async throws in
            bed.gateway.misbehave(Self.busy)
            #expect(await bed.sender.send(bed.push()).isDelivered)
            #expect(bed.pausesTaken == [.seconds(seconds)])
        }
    }

    @Test("No pause is shorter than the service's Retry-After")
    func retryAfter() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answer(status: 429, reason: "TooManyRequests", headers: ["retry-after": "42"]))
            bed.gateway.misbehave(.answer(status: 429, reason: "TooManyRequests", headers: ["retry-after": "0"]))
            bed.gateway.misbehave(.answer(status: 429, reason: "TooManyRequests", headers: ["retry-after": "soon"]))
            #expect(await bed.sender.send(bed.push()).isDelivered)
            #expect(bed.pausesTaken == [.seconds(42), .seconds(1), .seconds(2)])
        }
    }

    @Test("A push that would expire before the next attempt fails immediately")
    func expiresDuringPause() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answer(status: 429, reason: "TooManyRequests", headers: ["retry-after": "300"]))
            #expect(
                await bed.sender.send(bed.push(expiresIn: 300)) == .gaveUp(reason: "expires before the next try, after TooManyRequests"))
            #expect(bed.pausesTaken.isEmpty)
        }
    }

    @Test("The last pause ends before the expiry of the push")
    func expiresWhileTrying() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(Self.busy, times: 20)
            #expect(
                await bed.sender.send(bed.push(expiresIn: 4)) == .gaveUp(reason: "expires before the next try, after ServiceUnavailable"))
            #expect(bed.pausesTaken == [.seconds(0.5), .seconds(1), .seconds(2)])
        }
    }

    @Test("An expired push is not sent")
    func isExpired() async throws {
        try await PushTestbed.run { (bed) async throws in
            #expect(await bed.sender.send(bed.push(expiresIn: 0)) == .gaveUp(reason: "expired"))
            #expect(bed.gateway.connectionCount == 0)
        }
    }

    @Test("A lost connection is reestablished")
    func lostConnection() async throws {
        try await PushTestbed.run { (bed) async throws in
            #expect(await bed.sender.send(bed.push()).isDelivered)
            bed.gateway.misbehave(.dropConnection)
            #expect(await bed.sender.send(bed.push()).isDelivered)
            #expect(bed.gateway.connectionCount == 2)
            // Pauses take no time here, so the second attempt may still use the lost connection.
            #expect(1...3 ~= bed.pausesTaken.count)
        }
    }

    @Test("A push that the service did not process before GOAWAY is sent by another connection")
    func goAwayWithoutAnswer() async throws {
        try await PushTestbed.run { (bed) async throws in
            #expect(await bed.sender.send(bed.push()).isDelivered)
            bed.gateway.misbehave(.goAway(answering: false))
            let push = bed.push()
            #expect(await bed.sender.send(push).isDelivered)
            #expect(bed.gateway.received.map(\.connection) == [1, 2])
            #expect(bed.gateway.received.last?.headers["apns-id"] == push.id)
        }
    }

    @Test("An unreachable service ends the push after its attempts")
    func nobodyListens() async throws {
        try await PushTestbed.run(configure: { $0.retry.attempts = 3 }) { (bed) async throws in
            await bed.gateway.stop()
            let outcome = await bed.sender.send(bed.push())
            guard case .gaveUp(let reason) = outcome else { return #expect(Bool(false), "\(outcome)") }
            #expect(reason.hasPrefix("too many tries, after "))
            #expect(bed.pausesTaken.count == 2)
        }
    }

    @Test("A service without a trusted certificate gets no push")
    func untrusted() async throws {
        try await PushTestbed.run(configure: {
            $0.additionalTrustRootsPEM = nil
            $0.retry.attempts = 2
        }) { (bed) async throws in
            let outcome = await bed.sender.send(bed.push())
            guard case .gaveUp(let reason) = outcome else { return #expect(Bool(false), "\(outcome)") }
            #expect(reason.contains("CERTIFICATE_VERIFY_FAILED"))
            #expect(bed.gateway.received.isEmpty)
        }
    }

    @Test("A silent service costs one attempt's timeout, and the push continues")
    func timeout() async throws {
        try await PushTestbed.run(configure: { $0.attemptTimeout = .seconds(2) }) { (bed) async throws in
            bed.gateway.misbehave(.hold)
            let push = bed.push()
            #expect(await bed.sender.send(push).isDelivered)
            #expect(bed.pausesTaken.first == .milliseconds(500))
        }
    }

    @Test("An endless response costs one attempt's timeout, and its success status counts immediately")
    func stalledAnswer() async throws {
        try await PushTestbed.run(configure: { $0.attemptTimeout = .seconds(2) }) { (bed) async throws in
            bed.gateway.misbehave(.stallAnswer(status: 410))
            #expect(await bed.sender.send(bed.push()).isDelivered)
            #expect(bed.pausesTaken.first == .milliseconds(500))
            bed.gateway.misbehave(.stallAnswer(status: 200))
            let push = bed.push()
            #expect(await bed.sender.send(push) == .delivered(id: push.id))
            #expect(!bed.gateway.received.contains { $0.headers["apns-id"] == push.id })
        }
    }

    @Test("Cancellation ends a push that waits for its response")
    func cancelledWhileWaiting() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.hold)
            let push = bed.push()
            let task = Task { await bed.sender.send(push) }
            await bed.gateway.waitForArrivals(1)
            task.cancel()
            #expect(await task.value == .gaveUp(reason: "cancelled"))
            #expect(bed.pausesTaken.isEmpty)
        }
    }

    @Test("Cancellation ends a push during a pause")
    func cancelledInPause() async throws {
        let timing = PushTiming(now: { PushTestbed.start }, sleep: { _ in throw CancellationError() }, jitter: { 0 })
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(Self.busy)
            let outcome = try await bed.withSender(timing: timing) { await $0.send(bed.push()) }
            #expect(outcome == .gaveUp(reason: "cancelled, after ServiceUnavailable"))
        }
    }

    @Test("After its shutdown, a sender fails immediately, connected before or not")
    func shutDown() async throws {
        try await PushTestbed.run { (bed) async throws in
            #expect(await bed.sender.send(bed.push()).isDelivered)
            await bed.sender.shutdown()
            #expect(await bed.sender.send(bed.push()) == .gaveUp(reason: "the sender was shut down"))
            await bed.sender.shutdown()
            #expect(bed.gateway.received.count == 1)
        }
    }

    @Test("A shutdown ends pushes that wait for their responses")
    func shutDownWhileWaiting() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.hold)
            let push = bed.push()
            async let outcome = bed.sender.send(push)
            await bed.gateway.waitForArrivals(1)
            await bed.sender.shutdown()
            #expect(await outcome == .gaveUp(reason: "the sender was shut down"))
        }
    }
}
