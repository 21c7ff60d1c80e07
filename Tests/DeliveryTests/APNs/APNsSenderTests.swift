import CountersignSandbox
import Delivery
import Foundation
import JOSE
import Testing

@Suite("Push requests to APNs")
struct APNsSenderTests {
    @Test("The push service receives a push with its payload, the APNs headers and a signed provider token")
    func delivers() async throws {
        try await PushTestbed.run { (bed) async throws in
            var push = bed.push(collapseID: "transaction-1")
            push.expiresAt = Date(timeIntervalSince1970: 1_800_000_300.9)
            #expect(await bed.sender.send(push) == .delivered(id: push.id))

            let received = try #require(bed.gateway.received.first)
            #expect(bed.gateway.received.count == 1)
            #expect(received.status == 200)
            #expect(received.reason == nil)
            #expect(received.environment == .development)
            #expect(received.deviceToken == PushTestbed.deviceToken)
            #expect(received.payload == push.payload)
            #expect(received.headers["apns-topic"] == PushTestbed.topic)
            #expect(received.headers["apns-push-type"] == "alert")
            #expect(received.headers["apns-priority"] == "10")
            #expect(received.headers["apns-expiration"] == "1800000300")
            #expect(received.headers["apns-id"] == push.id)
            #expect(received.headers["apns-collapse-id"] == "transaction-1")

            let authorization = try #require(received.headers["authorization"])
            #expect(authorization.hasPrefix("bearer "))
            let token = try JSONWebSignature(parsing: String(authorization.dropFirst("bearer ".count)))
            #expect(token.header == ["alg": "ES256", "kid": .string(PushTestbed.keyID)])
            #expect(try JSONValue(parsing: token.payload) == ["iss": .string(PushTestbed.teamID), "iat": 1_800_000_000])
            try token.verify(with: bed.signingKey.verificationKey())
        }
    }
}
