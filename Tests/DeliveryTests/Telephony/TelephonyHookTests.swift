import Crypto
import Delivery
import Foundation
import JOSE
import NIOConcurrencyHelpers
import TestSupport
import Testing

@Suite("Telephony hook", .timeLimit(.minutes(2)))
struct TelephonyHookTests {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)

    static func message(_ channel: TelephoneMessage.Channel = .text, expiresIn seconds: TimeInterval = 300) -> TelephoneMessage {
        TelephoneMessage(
            id: "msg123", channel: channel, phoneNumber: "+15551234821", phoneExtension: channel == .call ? "42" : nil,
            text: "123456 is your code.", code: "123456", language: "en", purpose: .verification,
            recipient: .init(userID: "00u1", login: "jane@example.org", firstName: "Jane", lastName: "Doe"), requestID: "req1",
            address: "192.0.2.7", expiresAt: start.addingTimeInterval(seconds))
    }

    private struct Bed: Sendable {
        let sender: TelephonyHookSender
        let hook: PlainListener
        let pauses: NIOLockedValueBox<[Duration]>
        let logs: RecordedLogs
    }

    /// Returns the response of a hook that has sent a text.
    static func sent(_ status: String = "SUCCESSFUL") -> String {
        PlainListener.answer(
            200,
            #"{"commands":[{"type":"com.okta.telephony.action","value":[{"status":"\#(status)","provider":"X","transactionId":"tx1"}]}]}"#)
    }

    private func run(_ answers: [String], _ body: @escaping @Sendable (Bed) async throws -> Void) async throws {
        let hook = try PlainListener(answering: answers)
        defer { hook.close() }
        let pauses = NIOLockedValueBox<[Duration]>([])
        let logs = RecordedLogs()
        let now = NIOLockedValueBox(Self.start)
        let sender = try TelephonyHookSender(
            .init(
                url: "http://127.0.0.1:\(hook.port)/telephony?a=b", headerName: "X-Hook-Secret", secret: "s3cret", signingKey: "k3y",
                source: "https://id.example.com", timeout: .seconds(30)),
            timing: PushTiming(
                now: { now.withLockedValue { $0 } },
                sleep: { pause in
                    pauses.withLockedValue { $0.append(pause) }
                    now.withLockedValue { $0 += pause / .seconds(1) }
                }, jitter: { 1 }), logger: logs.logger)
        do {
            try await body(Bed(sender: sender, hook: hook, pauses: pauses, logs: logs))
        } catch {
            await sender.shutdown()
            throw error
        }
        await sender.shutdown()
    }

    @Test(
        "The telephony hook gets the message in Okta's published format, with the secret and a signature",
        arguments: [("SMS", nil), ("VOICE", "42")])
    func request(_ channel: String, _ phoneExtension: String?) async throws {
        try await run([Self.sent()]) { (bed) async throws in
            let message = Self.message(channel == "SMS" ? .text : .call)
            #expect(await bed.sender.send(.telephone(message)) == .delivered(id: "tx1"))
            let request = try #require(bed.hook.received.first)
            let head = request.head.components(separatedBy: "\r\n").map { $0.lowercased() }
            #expect(head.first == "post /telephony?a=b http/1.1")
            #expect(head.contains("x-hook-secret: s3cret") && head.contains("content-type: application/json"))
            let time = "1700000000"
            let code = HMAC<SHA256>.authenticationCode(
                for: Data("\(time).\(request.body)".utf8), using: SymmetricKey(data: Data("k3y".utf8)))
            let hex = code.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            #expect(head.contains("x-countersign-signature: t=\(time),v1=\(hex)"))
            var profile: JSONValue = [
                "msgTemplate": "123456 is your code.", "phoneNumber": "+15551234821", "otpExpires": "2023-11-14T22:18:20.000Z",
                "deliveryChannel": .string(channel), "otpCode": "123456", "locale": "en",
            ]
            if let phoneExtension { profile["phoneExtension"] = .string(phoneExtension) }
            #expect(
                try JSONValue(parsing: Array(request.body.utf8)) == [
                    "eventId": "msg123", "eventTime": "2023-11-14T22:13:20.000Z", "eventType": "com.okta.telephony.provider",
                    "eventTypeVersion": "1.0", "contentType": "application/json", "cloudEventVersion": "0.1",
                    "source": "https://id.example.com", "requestType": "com.okta.user.telephony.mfa-verification",
                    "data": [
                        "context": ["request": ["id": "req1", "method": "POST", "ipAddress": "192.0.2.7"]],
                        "userProfile": ["login": "jane@example.org", "userId": "00u1", "firstName": "Jane", "lastName": "Doe"],
                        "messageProfile": profile,
                    ],
                ])
        }
    }

    @Test(
        "A message counts as delivered only if the telephony hook's response reports a successful or pending action",
        arguments: [
            (TelephonyHookTests.sent("PENDING"), MessageOutcome.delivered(id: "tx1")),
            (TelephonyHookTests.sent("FAILED"), .refused(reason: "the hook could not send it")),
            (PlainListener.answer(200, "{}"), .refused(reason: "the hook's answer has no telephony action")),
            (PlainListener.answer(200, "sent"), .refused(reason: "the hook's answer is no JSON object")),
            (
                PlainListener.answer(200, #"{"error":{"errorSummary":"+15551234821 is barred"}}"#),
                .refused(reason: "the hook answered with an error")
            ), (PlainListener.answer(204), .refused(reason: "status 204")), (PlainListener.answer(401), .refused(reason: "status 401")),
            (PlainListener.answer(302, fields: "Location: http://127.0.0.1:9/\r\n"), .refused(reason: "status 302")),
        ])
    func answers(_ answer: String, _ outcome: MessageOutcome) async throws {
        try await run([answer]) { (bed) async throws in
            #expect(await bed.sender.send(.telephone(Self.message())) == outcome)
            #expect(bed.hook.received.count == 1)
        }
    }

    @Test("After a server error of the telephony hook, the same event is sent again, in at most three attempts")
    func retrying() async throws {
        try await run([PlainListener.answer(503, fields: "Retry-After: 7\r\n"), PlainListener.answer(500), Self.sent()]) {
            (bed) async throws in
            #expect(await bed.sender.send(.telephone(Self.message())) == .delivered(id: "tx1"))
            #expect(bed.pauses.withLockedValue { $0 } == [.seconds(7), .seconds(2)])
            #expect(bed.hook.received.count == 3 && bed.hook.received.allSatisfy { $0.body.contains(#""eventId":"msg123""#) })
        }
        try await run([PlainListener.answer(503)]) { (bed) async throws in
            #expect(await bed.sender.send(.telephone(Self.message())) == .gaveUp(reason: "too many tries, after status 503"))
            #expect(bed.hook.received.count == 3)
        }
    }

    @Test("A telephone message that would expire before the next attempt is not retried")
    func tooLate() async throws {
        try await run([PlainListener.answer(503, fields: "Retry-After: 200\r\n")]) { (bed) async throws in
            let message = Self.message(expiresIn: 100)
            #expect(await bed.sender.send(.telephone(message)) == .gaveUp(reason: "expires before the next try, after status 503"))
            #expect(await bed.sender.send(.telephone(Self.message(expiresIn: 0))) == .gaveUp(reason: "expired"))
            #expect(bed.hook.received.count == 1)
        }
    }

    @Test(
        "A telephony hook configuration needs an https URL and a valid secret or signing key",
        arguments: [
            ("http://hooks.example.com/", "s", nil), ("ftp://hooks.example.com/", "s", nil), ("hooks.example.com", "s", nil),
            ("https://user@hooks.example.com/", "s", nil), ("https://hooks.example.com/", nil, nil), ("https://hooks.example.com/", "", ""),
            ("https://hooks.example.com/", "a\r\nX: y", nil),
        ] as [(String, String?, String?)])
    func configuration(_ url: String, _ secret: String?, _ key: String?) {
        #expect(throws: MessageConfigurationError.self) {
            _ = try TelephonyHookSender(.init(url: url, secret: secret, signingKey: key), logger: RecordedLogs().logger)
        }
    }
}
