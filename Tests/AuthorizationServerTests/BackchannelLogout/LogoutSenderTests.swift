import Delivery
import Foundation
import Logging
import NIOConcurrencyHelpers
import TestSupport
import Testing

@Suite("Logout token delivery")
struct LogoutSenderTests {
    /// Sends one notification to an application that returns these responses.
    private static func send(
        _ answers: [String], lifetime: TimeInterval = 120
    ) async throws -> (outcome: LogoutOutcome, requests: [String], pauses: [Duration]) {
        let receiver = try PlainListener(answering: answers)
        defer { receiver.close() }
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let time = NIOLockedValueBox((now: start, pauses: [Duration]()))
        let timing = PushTiming(
            now: { time.withLockedValue { $0.now } },
            sleep: { pause in
                time.withLockedValue {
                    $0.now += pause / .seconds(1)
                    $0.pauses.append(pause)
                }
            }, jitter: { 1 })
        let sender = HTTPLogoutSender(timing: timing, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let outcome = await sender.send(
            LogoutNotification(
                id: "LT.1", clientID: "web-app", uri: "http://127.0.0.1:\(receiver.port)/logout?app=1", token: "a.b.c",
                expiresAt: start + lifetime))
        await sender.shutdown()
        return (outcome, receiver.received.map(\.text), time.withLockedValue { $0.pauses })
    }

    @Test("A logout token is posted once as a form, and status 200 or 204 completes the delivery", arguments: [200, 204])
    func delivered(status: Int) async throws {
        let (outcome, requests, pauses) = try await Self.send([PlainListener.answer(status)])
        #expect(outcome == .delivered)
        #expect(pauses.isEmpty)
        let request = try #require(requests.first)
        #expect(requests.count == 1)
        #expect(request.hasPrefix("POST /logout?app=1 HTTP/1.1\r\n"))
        #expect(request.lowercased().contains("content-type: application/x-www-form-urlencoded\r\n"))
        #expect(request.hasSuffix("\r\n\r\nlogout_token=a.b.c"))
    }

    @Test("A logout token that the application refuses or redirects is not sent again", arguments: [400, 404, 301, 302, 307])
    func refused(status: Int) async throws {
        let (outcome, requests, _) = try await Self.send([
            PlainListener.answer(status, fields: "Location: http://127.0.0.1:1/elsewhere\r\n"), PlainListener.answer(200),
        ])
        #expect(outcome == .refused(status: status))
        #expect(requests.count == 1)
    }

    @Test("After a server error or a closed connection, the logout token sender retries with growing pauses")
    func retried() async throws {
        let (outcome, requests, pauses) = try await Self.send([PlainListener.answer(503), "", PlainListener.answer(204)])
        #expect(outcome == .delivered)
        #expect(requests.count == 3)
        #expect(pauses == [.seconds(1), .seconds(2)])
    }

    @Test("The logout token sender gives up after five attempts, or when the logout token has expired")
    func gaveUp() async throws {
        let (outcome, requests, pauses) = try await Self.send([PlainListener.answer(500)])
        #expect(outcome == .gaveUp(reason: "too many tries, after status 500"))
        #expect(requests.count == 5)
        #expect(pauses == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        let (late, tries, _) = try await Self.send([PlainListener.answer(500)], lifetime: 3)
        #expect(late == .gaveUp(reason: "expired"))
        #expect(tries.count == 2)
    }

    @Test("A full logout queue rejects notifications, and a queue that shuts down sends the notifications that it has accepted")
    func queue() async throws {
        let sender = RecordingLogoutSender()
        let queue = LogoutQueue(sender: sender, capacity: 2)
        let notifications = (0..<3).map {
            LogoutNotification(id: "\($0)", clientID: "app-\($0)", uri: "http://127.0.0.1:1/", token: "t", expiresAt: .distantFuture)
        }
        #expect(notifications.map { queue.submit($0) } == [true, true, false])
        queue.shutdown()
        #expect(!queue.submit(notifications[2]))
        await queue.run { _, _ in }
        #expect(sender.sent == 2)
    }

    @Test("A logout token delivery that is cancelled during a retry pause counts as interrupted, not as failed")
    func interrupted() async throws {
        let receiver = try PlainListener(answering: [PlainListener.answer(503)])
        defer { receiver.close() }
        let timing = PushTiming(now: { Date() }, sleep: { _ in throw CancellationError() })
        let sender = HTTPLogoutSender(timing: timing, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let outcome = await sender.send(
            LogoutNotification(
                id: "LT.1", clientID: "web-app", uri: "http://127.0.0.1:\(receiver.port)/", token: "t", expiresAt: .distantFuture))
        await sender.shutdown()
        #expect(outcome == .interrupted)
    }
}
