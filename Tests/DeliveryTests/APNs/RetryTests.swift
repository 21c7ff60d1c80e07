import CountersignSandbox
import Delivery
import Foundation
import Testing

@Suite("Retries of pushes", .timeLimit(.minutes(2)))
struct RetryTests {
    static let busy = PushGatewayFault.answer(status: 503, reason: "ServiceUnavailable")

    @Test("The pauses between attempts of a push double up to 30 seconds, and the push fails after ten attempts")
    func pausesDouble() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(Self.busy, times: 20)
            #expect(await bed.sender.send(bed.push()) == .gaveUp(reason: "too many tries, after ServiceUnavailable"))
            #expect(bed.pausesTaken == [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
            #expect(bed.gateway.received.count == 10)
        }
    }

    @Test("Jitter shortens the pause before a push is retried by at most half", arguments: [(0.0, 0.25), (0.5, 0.375), (1.0, 0.5)])
    func jitter(_ chance: Double, _ seconds: Double) async throws {
        try await PushTestbed.run(jitter: chance) { (bed) async throws in
            bed.gateway.misbehave(Self.busy)
            #expect(await bed.sender.send(bed.push()).isDelivered)
            #expect(bed.pausesTaken == [.seconds(seconds)])
        }
    }

    @Test("A push is not retried before the time in the push service's Retry-After header")
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

    @Test("A push fails without another attempt if the next pause would end after the push's expiry")
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

    @Test("After the connection to the push service is lost, a push is delivered on a new connection")
    func lostConnection() async throws {
        try await PushTestbed.run { (bed) async throws in
            #expect(await bed.sender.send(bed.push()).isDelivered)
            bed.gateway.misbehave(.dropConnection)
            #expect(await bed.sender.send(bed.push()).isDelivered)
            #expect(bed.gateway.connectionCount == 2)
            // The pauses of this test take no real time, so the second attempt may still use the lost connection.
            #expect(1...3 ~= bed.pausesTaken.count)
        }
    }

    @Test("A push that the push service did not process before GOAWAY is sent again on another connection")
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

    @Test("If the push service is unreachable, a push fails after the configured number of attempts")
    func nobodyListens() async throws {
        try await PushTestbed.run(configure: { $0.retry.attempts = 3 }) { (bed) async throws in
            await bed.gateway.stop()
            let outcome = await bed.sender.send(bed.push())
            guard case .gaveUp(let reason) = outcome else { return #expect(Bool(false), "\(outcome)") }
            #expect(reason.hasPrefix("too many tries, after "))
            #expect(bed.pausesTaken.count == 2)
        }
    }

    @Test("A push service without a trusted certificate gets no push")
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

    @Test("If the push service does not respond, the attempt times out, and the push is retried")
    func timeout() async throws {
        try await PushTestbed.run(configure: { $0.attemptTimeout = .seconds(2) }) { (bed) async throws in
            bed.gateway.misbehave(.hold)
            let push = bed.push()
            #expect(await bed.sender.send(push).isDelivered)
            #expect(bed.pausesTaken.first == .milliseconds(500))
        }
    }

    @Test(
        "A push is retried after an unfinished error response times out, and counts as delivered after an unfinished response with status 200"
    )
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

    @Test("A push that is cancelled during the wait for the response fails without a retry")
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

    @Test("A push that is cancelled during the pause before a retry fails immediately")
    func cancelledInPause() async throws {
        let timing = PushTiming(now: { PushTestbed.start }, sleep: { _ in throw CancellationError() }, jitter: { 0 })
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(Self.busy)
            let outcome = try await bed.withSender(timing: timing) { await $0.send(bed.push()) }
            #expect(outcome == .gaveUp(reason: "cancelled, after ServiceUnavailable"))
        }
    }

    @Test("After its shutdown, a push sender sends no push and fails immediately")
    func shutDown() async throws {
        try await PushTestbed.run { (bed) async throws in
            #expect(await bed.sender.send(bed.push()).isDelivered)
            await bed.sender.shutdown()
            #expect(await bed.sender.send(bed.push()) == .gaveUp(reason: "the sender was shut down"))
            await bed.sender.shutdown()
            #expect(bed.gateway.received.count == 1)
        }
        try await PushTestbed.run { (bed) async throws in
            await bed.sender.shutdown()
            #expect(await bed.sender.send(bed.push()) == .gaveUp(reason: "the sender was shut down"))
            #expect(bed.gateway.connectionCount == 0 && bed.pausesTaken.isEmpty)
        }
    }

    @Test("The shutdown of a push sender ends pushes that wait for their responses")
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
