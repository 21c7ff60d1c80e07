import CountersignSandbox
import Delivery
import Foundation
import Testing

/// Tests the result of each response of the push service in the table of Documentation/Protocol/Devices.md §9.3, over a connection.
@Suite("Responses of the push service")
struct GatewayAnswerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let reason: String
        var testDescription: String { "\(status) \(reason)" }
    }

    static func rows(_ status: Int, _ reasons: String) -> [Row] {
        reasons.split(separator: " ").map { Row(status: status, reason: String($0)) }
    }

    @Test(
        "If the push service reports a device token as invalid or as another app's, the outcome is tokenDead, and the push is not retried",
        arguments: rows(400, "BadDeviceToken DeviceTokenNotForTopic"))
    func badTokens(_ row: Row) async throws {
        try await expect(.tokenDead(since: nil), after: row)
    }

    @Test(
        "If the push service reports a device token as unregistered or expired, the outcome is tokenDead with the time of the response",
        arguments: rows(410, "Unregistered ExpiredToken"))
    func formerTokens(_ row: Row) async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answer(status: row.status, reason: row.reason, timestamp: 1_799_999_000_500))
            let outcome = await bed.sender.send(bed.push())
            #expect(outcome == .tokenDead(since: Date(timeIntervalSince1970: 1_799_999_000.5)))
            #expect(bed.gateway.received.count == 1)
        }
    }

    static let finalRefusals =
        rows(
            400,
            """
            BadTopic MissingTopic TopicDisallowed InvalidPushType BadPriority BadExpirationDate BadMessageId BadCollapseId PayloadEmpty \
            MissingDeviceToken DuplicateHeaders IdleTimeout SomethingNew
            """) + rows(403, "InvalidProviderToken MissingProviderToken Forbidden BadCertificate BadCertificateEnvironment")
        + rows(404, "BadPath")
        + rows(405, "MethodNotAllowed") + rows(413, "PayloadTooLarge")

    @Test("A push is not retried after a permanent error of the push service", arguments: finalRefusals)
    func refusals(_ row: Row) async throws {
        try await expect(.refused(reason: row.reason, status: row.status), after: row)
    }

    @Test(
        "After a temporary error of the push service, a push is retried after a pause",
        arguments: rows(429, "TooManyRequests TooManyProviderTokenUpdates") + rows(500, "InternalServerError")
            + rows(503, "ServiceUnavailable Shutdown") + rows(502, "SomethingNew"))
    func retries(_ row: Row) async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answer(status: row.status, reason: row.reason))
            let push = bed.push()
            #expect(await bed.sender.send(push) == .delivered(id: push.id))
            #expect(bed.gateway.received.map(\.status) == [row.status, 200])
            #expect(bed.gateway.received.map { $0.headers["apns-id"] } == [push.id, push.id])
            #expect(bed.pausesTaken == [.milliseconds(500)])
        }
    }

    @Test("If the push service reports an expired provider token, the sender replaces the token and retries the push once without a pause")
    func expiredProviderToken() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answer(status: 403, reason: "ExpiredProviderToken"))
            let push = bed.push()
            #expect(await bed.sender.send(push) == .delivered(id: push.id))
            #expect(bed.gateway.received.map(\.status) == [403, 200])
            #expect(Set(bed.gateway.received.map { $0.headers["authorization"] }).count == 2)
            #expect(bed.pausesTaken.isEmpty)
        }
    }

    @Test(
        "If the push service's error has an invalid body, the result contains the status code instead of the reason",
        arguments: [
            #"{"reason":"has spaces"}"#, #"{"reason":"zeile\nbruch"}"#, #"{"reason":"é"}"#, #"{"reason":""}"#, #"{"reason":7}"#, "[]",
            "<html>", "",
            #"{"reason":"\#(String(repeating: "a", count: 65))"}"#, String(repeating: " ", count: 5000),
        ])
    func unreadableBody(_ body: String) async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answerBody(status: 403, body: Array(body.utf8)))
            #expect(await bed.sender.send(bed.push()) == .refused(reason: "status 403", status: 403))
        }
    }

    @Test(
        "If the push service reports a device token as unregistered with an invalid timestamp, the outcome is tokenDead without a time",
        arguments: ["-1", "1e300", "\"yesterday\"", "null"])
    func unreadableTimestamp(_ timestamp: String) async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answerBody(status: 410, body: Array(#"{"reason":"Unregistered","timestamp":\#(timestamp)}"#.utf8)))
            #expect(await bed.sender.send(bed.push()) == .tokenDead(since: nil))
        }
    }

    @Test("A redirect of the push service is an error and is not followed")
    func redirection() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answer(status: 307, reason: nil, headers: ["location": "https://localhost:1/3/device/00"]))
            #expect(await bed.sender.send(bed.push()) == .refused(reason: "status 307", status: 307))
            #expect(bed.gateway.received.count == 1)
        }
    }

    private func expect(_ expected: PushOutcome, after row: Row) async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.answer(status: row.status, reason: row.reason))
            #expect(await bed.sender.send(bed.push()) == expected)
            #expect(bed.gateway.received.map(\.status) == [row.status])
            #expect(bed.pausesTaken.isEmpty)
        }
    }
}
