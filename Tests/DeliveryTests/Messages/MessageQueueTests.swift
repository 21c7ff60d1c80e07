import Delivery
import Foundation
import MetricsTestKit
import NIOConcurrencyHelpers
import TestSupport
import Testing

@Suite("Message queue", .timeLimit(.minutes(2)))
struct MessageQueueTests {
    /// A sender that sends nothing, and returns the outcome that the test sets.
    private struct Scripted: MessageSender {
        var outcome: @Sendable (Message) -> MessageOutcome = { .delivered(id: $0.id) }
        func send(_ message: Message) async -> MessageOutcome { outcome(message) }
    }

    private func mail(_ id: String, expiresIn seconds: TimeInterval = 300) -> Message {
        .mail(
            Mail(
                id: id, recipient: "jane@example.org", subject: "s", text: "123456", html: "", expiresAt: TelephonyHookTests.start + seconds
            ))
    }

    private let clock = ManualClock(TelephonyHookTests.start)
    private var timing: PushTiming {
        PushTiming(now: { [clock] in clock.now }, sleep: { [clock] in try await clock.sleep(for: $0 / .seconds(1)) })
    }

    @Test("The message queue reports and counts one outcome for each message, and logs no recipient or code")
    func outcomes() async throws {
        let logs = RecordedLogs()
        let metrics = TestMetrics()
        let told = NIOLockedValueBox<[String: MessageOutcome]>([:])
        let sender = Scripted { $0.id == "bad" ? .refused(reason: "550 at recipient") : .delivered(id: $0.id) }
        let queue = MessageQueue(sender: sender, timing: timing, logger: logs.logger, metrics: metrics) { message, outcome in
            told.withLockedValue { $0[message.id] = outcome }
        }
        #expect(queue.submit(mail("good")) && queue.submit(mail("bad")) && queue.submit(mail("old", expiresIn: 0)))
        #expect(queue.submit(.telephone(TelephonyHookTests.message())))
        queue.shutdown()
        #expect(!queue.submit(mail("late")))
        await queue.run()
        #expect(
            told.withLockedValue { $0 } == [
                "good": .delivered(id: "good"), "bad": .refused(reason: "550 at recipient"), "old": .gaveUp(reason: "expired"),
                "msg123": .delivered(id: "msg123"),
            ])
        func count(_ channel: String, _ outcome: String) throws -> Int64 {
            try metrics.expectCounter("countersign_messages_total", [("channel", channel), ("outcome", outcome)]).totalValue
        }
        #expect(try count("mail", "delivered") == 1 && count("mail", "refused") == 1 && count("mail", "gave_up") == 1)
        #expect(try count("mail", "dropped") == 1 && count("text", "delivered") == 1 && count("call", "delivered") == 0)
        let log = logs.lines.joined(separator: "\n")
        #expect(log.contains("550 at recipient") && !log.contains("jane") && !log.contains("123456") && !log.contains("5551234821"))
    }

    @Test("If one channel of the message queue is full, further messages of that channel are rejected, and other channels accept messages")
    func full() async throws {
        let queue = MessageQueue(
            sender: Scripted(), capacity: 2, timing: timing, logger: RecordedLogs().logger, metrics: TestMetrics()
        ) { _, _ in }
        #expect(queue.submit(mail("1")) && queue.submit(mail("2")))
        #expect(!queue.submit(mail("3")))
        // Another channel has its own queue.
        #expect(queue.submit(.telephone(TelephonyHookTests.message())))
        queue.shutdown()
        await queue.run()
    }

    @Test("A mail is rejected if no mail server is configured")
    func router() async {
        let router = MessageRouter(mail: nil, telephone: Scripted())
        #expect(await router.send(mail("1")) == .refused(reason: "no mail server is configured"))
        #expect(await router.send(.telephone(TelephonyHookTests.message())) == .delivered(id: "msg123"))
    }
}
