import CountersignSandbox
import Delivery
import Foundation
import Testing

/// Tests a push service, or a proxy in its place, that sends malformed responses.
@Suite("Attacks: a misbehaving push service")
struct PushGatewayAttackTests {
    struct Misbehaviour: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let faults: [PushGatewayFault]
        /// Whether the push must arrive in the end.
        var isDelivered = false

        init(_ name: String, _ faults: PushGatewayFault..., times: Int = 1, isDelivered: Bool = false) {
            testDescription = name
            self.faults = Array(repeating: faults, count: times).flatMap { $0 }
            self.isDelivered = isDelivered
        }
    }

    private static let nested = Array((String(repeating: "[", count: 2_000) + String(repeating: "]", count: 2_000)).utf8)
    private static let forgedLine = #"{"reason":"Gone\n2027-01-01 info push ended outcome=delivered","timestamp":1e999}"#

    static let misbehaviours = [
        Misbehaviour("410 with a time after the end of all times", .answer(status: 410, reason: "Unregistered", timestamp: .max)),
        Misbehaviour("410 with a time before all times", .answer(status: 410, reason: "Unregistered", timestamp: .min)),
        Misbehaviour("429 for ever", .answer(status: 429, reason: "TooManyRequests"), times: 20),
        Misbehaviour("429 with a pause of a century", .answer(status: 429, reason: nil, headers: ["retry-after": "4294967295"])),
        Misbehaviour(
            "429 with a pause that is no number", .answer(status: 429, reason: nil, headers: ["retry-after": "99999999999999999999"]),
            isDelivered: true),
        Misbehaviour("429 with a negative pause", .answer(status: 429, reason: nil, headers: ["retry-after": "-1"]), isDelivered: true),
        Misbehaviour(
            "500, then 503, then right", .answer(status: 500, reason: nil), .answer(status: 503, reason: "Shutdown"), isDelivered: true),
        Misbehaviour("500 with a forged log line", .answerBody(status: 500, body: Array(forgedLine.utf8)), times: 20),
        Misbehaviour("400 with JSON that is nested too deep", .answerBody(status: 400, body: nested)),
        Misbehaviour("400 with a body without end", .answerBody(status: 400, body: [UInt8](repeating: 0x20, count: 1 << 20))),
        Misbehaviour("503 with bytes that are no text", .answerBody(status: 503, body: [0xFF, 0xFE, 0x00]), isDelivered: true),
        Misbehaviour("a provider token that is never right", .answer(status: 403, reason: "ExpiredProviderToken"), times: 20),
        Misbehaviour("a redirect to elsewhere", .answer(status: 307, reason: nil, headers: ["location": "https://evil.example/"])),
        Misbehaviour("a connection that is lost each time", .dropConnection, times: 20),
        Misbehaviour("a goodbye after the answer", .goAway(answering: true), isDelivered: true),
        Misbehaviour("a goodbye before the answer, again and again", .goAway(answering: false), times: 3, isDelivered: true),
    ]

    @Test(
        "Despite malformed responses of the push service, a push ends, reaches the device at most once, and logs no secret",
        arguments: misbehaviours)
    func atMostOnce(misbehaviour: Misbehaviour) async throws {
        try await PushTestbed.run { (bed) async throws in
            for fault in misbehaviour.faults { bed.gateway.misbehave(fault) }
            let push = bed.push(payload: #"{"aps":{"alert":"hello"},"challenge":"eyJhbGciOi"}"#, collapseID: "ft1")
            let outcome = await bed.sender.send(push)
            // A push counts as delivered if the gateway accepted it. It must do so at most once.
            let taken = bed.gateway.received.count { $0.status == 200 }
            #expect(outcome.isDelivered == (taken == 1) && taken <= 1, "\(outcome)")
            #expect(bed.delivered.count <= 1)
            if misbehaviour.isDelivered { #expect(outcome.isDelivered, "\(outcome)") }
            // Each retry has the same ids, so the service and the device recognize it as the same push.
            #expect(bed.gateway.received.allSatisfy { $0.headers["apns-id"] == push.id && $0.headers["apns-collapse-id"] == "ft1" })
            #expect(bed.gateway.received.count <= 12)
            for line in bed.logs.lines {
                #expect(!line.contains(PushTestbed.deviceToken) && !line.contains("eyJ") && !line.contains("evil.example"))
                #expect(!line.contains("\n") && !line.contains("outcome=delivered push ended"))
            }
        }
    }

    @Test("A response about an invalid or unregistered device token ends the push without a retry")
    func deadTokens() async throws {
        for (fault, isDated) in [
            (PushGatewayFault.answer(status: 400, reason: "BadDeviceToken"), false),
            (.answer(status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000), true),
        ] {
            try await PushTestbed.run { (bed) async throws in
                bed.gateway.misbehave(fault)
                guard case .tokenDead(let since) = await bed.sender.send(bed.push()) else {
                    Issue.record("The token is dead.")
                    return
                }
                #expect((since != nil) == isDated && bed.pausesTaken.isEmpty && bed.delivered.isEmpty)
            }
        }
    }
}
