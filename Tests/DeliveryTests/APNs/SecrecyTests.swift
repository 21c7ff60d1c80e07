import CountersignSandbox
import Delivery
import Foundation
import JOSE
import Testing

@Suite("Secrecy of pushes")
struct SecrecyTests {
    @Test("The log contains no device token, payload, provider token or key of a push, whatever the push's outcome is")
    func logs() async throws {
        try await PushTestbed.run { (bed) async throws in
            let secret = "the-challenge"
            for fault in [
                PushGatewayFault.answer(status: 410, reason: "Unregistered"), .answer(status: 403, reason: "InvalidProviderToken"),
                .answer(status: 503, reason: "Shutdown"), .dropConnection, .answer(status: 403, reason: "ExpiredProviderToken"),
            ] {
                bed.gateway.misbehave(fault)
                _ = await bed.sender.send(bed.push(payload: secret))
            }
            _ = await bed.sender.send(bed.push(payload: secret, expiresIn: 0))
            await bed.gateway.stop()
            _ = await bed.sender.send(bed.push(payload: secret))

            let lines = bed.logs.lines
            #expect(lines.count >= 10)
            let pem = try #require(bed.signingKey.privatePEM).split(separator: "\n")
            for line in lines {
                #expect(!line.contains(PushTestbed.deviceToken))
                #expect(!line.contains(PushTestbed.deviceToken.prefix(16)))
                #expect(!line.contains(secret))
                #expect(!line.contains("eyJ"))
                #expect(!pem.contains { line.contains($0) })
            }
        }
    }

    @Test("The log line of a push contains the push ID, the app, the outcome and a short hash of the device token")
    func fingerprint() async throws {
        try await PushTestbed.run { (bed) async throws in
            let push = bed.push()
            _ = await bed.sender.send(push)
            _ = await bed.sender.send(bed.push(to: "ffff"))
            // The log contains the first eight digits of the device token's SHA-256, as `sha256sum` prints them.
            #expect(
                bed.logs.lines.first
                    == "debug push ended device=09ff825c environment=development outcome=delivered push=\(push.id) topic=com.example.app")
            #expect(bed.logs.lines.last?.contains("device=f29a448b ") == true)
            #expect(bed.logs.lines.last?.hasPrefix("notice push ended") == true)
        }
    }

    @Test("The descriptions of a push contain no device token, payload or key")
    func descriptions() async throws {
        try await PushTestbed.run { (bed) async throws in
            let push = bed.push()
            var dumped = ""
            dump(push, to: &dumped)
            let pem = try #require(bed.signingKey.privatePEM).split(separator: "\n")
            for text in ["\(push)", String(reflecting: push), dumped] {
                #expect(text.contains(push.id))
                #expect(!text.contains(PushTestbed.deviceToken))
                #expect(!text.contains("alert"))
                #expect(!pem.contains { text.contains($0) })
            }
        }
    }
}
