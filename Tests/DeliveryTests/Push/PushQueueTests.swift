import CountersignSandbox
import Delivery
import Foundation
import JOSE
import Metrics
import MetricsTestKit
import NIOConcurrencyHelpers
import Testing

@Suite("Push queue", .timeLimit(.minutes(2)))
struct PushQueueTests {
    /// The outcomes that the handler received, by push id.
    final class Reports: Sendable {
        private let box = NIOLockedValueBox<[(id: String, outcome: PushOutcome)]>([])
        var all: [(id: String, outcome: PushOutcome)] { box.withLockedValue { $0 } }
        var ids: [String] { all.map(\.id) }
        func add(_ push: PushNotification, _ outcome: PushOutcome) { box.withLockedValue { $0.append((push.id, outcome)) } }
    }

    let clock = SandboxClock(.standing, startingAt: PushTestbed.start)
    let reports = Reports()
    let logs = RecordedLogs()
    let metrics = TestMetrics()
    let credentials: APNsCredentials

    init() throws {
        let pem = try #require(SigningKey.generate(.es256).privatePEM)
        credentials = try APNsCredentials(teamID: "TEAM123456", keyID: "KEY1234567", privateKeyPEM: pem)
    }

    func queue(_ sender: any PushSender, capacity: Int = 1000, concurrency: Int = 4) -> PushQueue {
        PushQueue(
            sender: sender, configuration: .init(capacity: capacity, concurrency: concurrency, drainTime: .seconds(5)), timing: timing,
            logger: logs.logger, metrics: metrics, handler: { [reports] push, outcome in reports.add(push, outcome) })
    }

    /// Returns a queue to which ten pushes were submitted.
    func queueOfTen(_ sender: any PushSender, concurrency: Int) -> PushQueue {
        let queue = queue(sender, concurrency: concurrency)
        for number in 0..<10 { queue.submit(push("\(number)")) }
        return queue
    }

    var timing: PushTiming {
        PushTiming(now: { [clock] in clock.now }, sleep: { [clock] in try await clock.sleep(for: $0 / .seconds(1)) }, jitter: { 0 })
    }

    func push(_ id: String, _ environment: PushEnvironment = .production) -> PushNotification {
        PushNotification(
            deviceToken: "aabbccdd", topic: "com.example.app", environment: environment, payload: [],
            expiresAt: PushTestbed.start.addingTimeInterval(300), id: id, credentials: credentials)
    }

    func count(_ environment: PushEnvironment, _ outcome: String) throws -> Int64 {
        try metrics.expectCounter("countersign_pushes_total", [("environment", environment.rawValue), ("outcome", outcome)]).totalValue
    }

    @Test("The push queue sends each push and reports its outcome once")
    func tellsOutcomes() async throws {
        let queue = queue(ScriptedSender(outcome: { Int($0.id)! % 2 == 0 ? .delivered(id: $0.id) : .tokenDead(since: nil) }))
        for number in 0..<100 { #expect(queue.submit(push("\(number)"))) }
        queue.shutdown()
        await queue.run()
        #expect(reports.ids.sorted() == (0..<100).map(String.init).sorted())
        for report in reports.all {
            #expect(report.outcome == (Int(report.id)! % 2 == 0 ? .delivered(id: report.id) : .tokenDead(since: nil)))
        }
        #expect(try count(.production, "delivered") == 50)
        #expect(try count(.production, "token_dead") == 50)
        #expect(try count(.development, "delivered") == 0)
    }

    @Test("The push queue limits the number of concurrent pushes separately for each APNs environment")
    func concurrency() async throws {
        let sender = ScriptedSender(isHeld: true)
        let queue = queue(sender, concurrency: 3)
        for number in 0..<20 { queue.submit(push("\(number)")) }
        async let running: Void = queue.run()
        await sender.started(3)
        // An environment that does not respond does not delay the other one.
        queue.submit(push("other", .development))
        await sender.started(4)
        #expect(sender.started.contains("other"))
        #expect(sender.mostAtOnce == 4)
        sender.release()
        queue.shutdown()
        await running
        #expect(reports.all.count == 21)
        #expect(sender.mostAtOnce <= 6)
    }

    @Test("A full push queue rejects further pushes immediately and sends the accepted pushes")
    func bounds() async throws {
        let sender = ScriptedSender(isHeld: true)
        let queue = queue(sender, capacity: 5, concurrency: 2)
        async let running: Void = queue.run()
        queue.submit(push("a"))
        queue.submit(push("b"))
        await sender.started(2)
        let taken = (0..<10).filter { queue.submit(push("\($0)")) }
        #expect(taken == [0, 1, 2, 3, 4])
        #expect(queue.submit(push("other", .development)))
        #expect(try count(.production, "dropped") == 5)
        #expect(logs.lines.filter { $0.contains("outcome=dropped") && $0.hasPrefix("warning") }.count == 5)
        sender.release()
        queue.shutdown()
        await running
        #expect(reports.ids.sorted() == ["0", "1", "2", "3", "4", "a", "b", "other"])
        #expect(reports.all.filter(\.outcome.isDelivered).count == reports.all.count)
    }

    @Test("After its shutdown, the push queue sends the waiting pushes and accepts no new pushes")
    func drains() async throws {
        let sender = ScriptedSender(isHeld: true)
        let queue = queueOfTen(sender, concurrency: 1)
        async let running: Void = queue.run()
        await sender.started(1)
        queue.shutdown()
        queue.shutdown()
        #expect(!queue.submit(push("late")))
        sender.release()
        await running
        #expect(reports.ids == (0..<10).map(String.init))
        #expect(reports.all.filter(\.outcome.isDelivered).count == reports.all.count)
    }

    @Test("At the end of the drain time, the push queue cancels pushes in progress and drops waiting pushes, each with an outcome")
    func drainTime() async throws {
        let sender = ScriptedSender(isHeld: true)
        let queue = queueOfTen(sender, concurrency: 2)
        async let running: Void = queue.run()
        await sender.started(2)
        queue.shutdown()
        await clock.waitForSleepers(1)
        clock.advance(by: 5)
        await running
        #expect(reports.ids.sorted() == (0..<10).map(String.init))
        #expect(reports.all.filter { $0.outcome == .gaveUp(reason: "cancelled") }.count == 2)
        #expect(reports.all.filter { $0.outcome == .dropped }.count == 8)
        #expect(try count(.production, "dropped") == 8)
        #expect(try count(.production, "gave_up") == 2)
    }

    @Test("Cancellation ends the push queue immediately, and each push gets an outcome")
    func cancellation() async throws {
        let sender = ScriptedSender(isHeld: true)
        let queue = queueOfTen(sender, concurrency: 2)
        let running = Task { await queue.run() }
        await sender.started(2)
        running.cancel()
        await running.value
        #expect(!queue.submit(push("late")))
        #expect(reports.ids.sorted() == (0..<10).map(String.init))
        #expect(reports.all.filter { $0.outcome == .dropped }.count == 8)
    }

    @Test("Cancelling the push queue does not cancel the outcome handler")
    func handlerGoesOn() async throws {
        let sender = ScriptedSender(isHeld: true)
        let wasCancelled = NIOLockedValueBox<[Bool]>([])
        let queue = PushQueue(sender: sender, timing: timing, logger: logs.logger, metrics: metrics) { _, _ in
            wasCancelled.withLockedValue { $0.append(Task.isCancelled) }
        }
        queue.submit(push("a"))
        let running = Task { await queue.run() }
        await sender.started(1)
        running.cancel()
        await running.value
        #expect(wasCancelled.withLockedValue { $0 } == [false])
    }

    @Test("Submitting a push never blocks, even if the push service does not respond")
    func stuckGateway() async throws {
        try await PushTestbed.run(configure: { $0.attemptTimeout = .seconds(60) }) { (bed) async throws in
            bed.gateway.misbehave(.hold, times: 8)
            let queue = PushQueue(
                sender: bed.sender, configuration: .init(capacity: 500, concurrency: 8), timing: timing, logger: logs.logger,
                metrics: metrics
            ) { [reports] in reports.add($0, $1) }
            async let running: Void = queue.run()
            for _ in 0..<8 { queue.submit(bed.push()) }
            await bed.gateway.waitForArrivals(8)
            // The service never responds. Of 1,000 further pushes, the queue accepts 500 and refuses 500.
            let taken = (0..<1000).filter { _ in queue.submit(bed.push()) }
            #expect(taken.count == 500)
            #expect(bed.gateway.received.isEmpty)
            bed.gateway.releaseHeld()
            queue.shutdown()
            await running
            #expect(reports.all.count == 508)
            #expect(reports.all.filter(\.outcome.isDelivered).count == reports.all.count)
            #expect(bed.gateway.connectionCount == 1)
        }
    }

    @Test("The push queue's counters have only the labels environment and outcome")
    func labels() {
        _ = queue(ScriptedSender())
        #expect(metrics.counters.count == 10)
        for counter in metrics.counters { #expect(counter.dimensions.map(\.0) == ["environment", "outcome"]) }
    }
}
