import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The org's challenge keys (Documentation/Protocol/Devices.md §2.11)")
struct ChallengeKeyTests {
    @Test("For a challenge with an unknown key ID, the phone fetches the org's keys, and rejects the challenge if no key matches")
    func rotation() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.org.publish([TestOrg.signingKey, TestOrg.nextKey])
        let challenge = try phone.parse(phone.org.challenge(key: TestOrg.nextKey))
        #expect(!challenge.isVerified)
        try await challenge.resolve(onRemediation: approving)
        #expect(phone.org.requests(.keys).count == 2)
        #expect(try phone.parse(phone.org.challenge("ft2", key: TestOrg.nextKey)).isVerified)
        let stranger = try SigningKey.generate(.rs256, keyID: "srv-3")
        let unknown = try phone.parse(phone.org.challenge("ft3", key: stranger))
        #expect(await failure { try await unknown.resolve(onRemediation: approving) }?.reason == .untrustedChallenge)
        #expect(phone.org.requests(.keys).count == 3)
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test("If the stored org keys are over an hour old, a pull fetches the keys again, and a withdrawn key verifies no challenge")
    func refresh() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        _ = try await enrollment.retrievePushChallenges(authenticationToken: TestPhone.token)
        try await enrollment.updateDeviceToken(Data([1]), authenticationToken: TestPhone.token)
        #expect(phone.org.requests(.keys).count == 1)
        phone.clock.advance(by: 3601)
        phone.org.publish([TestOrg.nextKey])
        _ = try await enrollment.retrievePushChallenges(authenticationToken: TestPhone.token)
        #expect(phone.org.requests(.keys).count == 2)
        #expect(try phone.parse(phone.org.challenge(at: phone.clock.now, key: TestOrg.nextKey)).isVerified)
        // The org withdrew the challenge, so the phone withdraws it too.
        #expect(try !phone.parse(phone.org.challenge(at: phone.clock.now)).isVerified)
    }

    @Test("If the stored org keys are a day old, the phone fetches the keys again before the consent step and rejects a withdrawn key")
    func age() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.clock.advance(by: 24 * 3600)
        phone.org.publish([TestOrg.nextKey])
        let challenge = try phone.parse(phone.org.challenge(at: phone.clock.now))
        #expect(!challenge.isVerified)
        #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == .untrustedChallenge)
        #expect(phone.org.requests(.verify).isEmpty)
    }

    @Test("A challenge of a custom authorization server is verified with the keys of that server", arguments: [true, false])
    func customServer(claim: Bool) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let more: JSONValue = claim ? ["authorizationServerId": "default"] : ["iss": "https://id.example.com/oauth2/default"]
        let challenge = try phone.parse(phone.org.challenge(more: more))
        #expect(!challenge.isVerified)
        try await challenge.resolve(onRemediation: approving)
        #expect(phone.org.requests(.discovery).last?.url?.path() == "/oauth2/default/.well-known/openid-configuration")
        #expect(try phone.org.answers().first?.claims.audience == [claim ? phone.org.url : "https://id.example.com/oauth2/default"])
    }

    @Test("An org's key verifies challenges even if the key set also contains unsuitable keys and invalid entries")
    func foreignKeys() async throws {
        let phone = try TestPhone()
        let other = try #require(try SigningKey.generate(.es256, keyID: "ec-1").publicKey).json()
        var certified = try #require(TestOrg.nextKey.publicKey).json()
        certified["x5c"] = ["MIIB"]
        certified["key_ops"] = ["verify"]
        phone.org.publish([TestOrg.signingKey], and: [certified, other, 7, ["kty": "RSA"], ["kty": "PQC", "kid": "srv-1"]])
        try await phone.enroll()
        #expect(try phone.parse(phone.org.challenge()).isVerified)
    }

    @Test("The phone stores a limited number of the org's keys, and rejects a challenge that a published symmetric key signed")
    func bounds() async throws {
        let phone = try TestPhone()
        let template = try #require(TestOrg.nextKey.publicKey)
        let many = (0..<100).map { number -> JSONValue in
            var key = template
            key.keyID = "many-\(number)"
            return key.json()
        }
        phone.org.publish([], and: [["kty": "oct", "k": "c2VjcmV0", "kid": "srv-1"]] + many)
        try await phone.enroll()
        let store = EnrollmentStore(
            folder: EntryFolder(path: phone.folder.url.path, keySource: StoreKeyFile()),
            keys: FileDeviceKeyStore(directory: phone.folder.url))
        #expect(try store.challengeKeys(of: "00o1")?.issuers[phone.org.url]?.keys.count == ChallengeKeys.maximumCount)
        let forged = try phone.org.challenge(key: SigningKey.secret(Array(repeating: 7, count: 32), algorithm: .hs256, keyID: "srv-1"))
        #expect(throws: (any Error).self) { try phone.parse(forged) }
    }

    @Test(
        "If the jwks_uri of the discovery document is not an https URL, the phone does not fetch keys and rejects the challenge",
        arguments: ["http://id.example.com/oauth2/v1/keys", "file:///etc/passwd", "", 7] as [JSONValue])
    func hostileDiscovery(uri: JSONValue) async throws {
        let phone = try TestPhone()
        phone.org.answer(.discovery, .json(["jwks_uri": uri]), .json(["jwks_uri": uri]))
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == .untrustedChallenge)
        #expect(phone.org.requests(.keys).isEmpty)
    }

    @Test(
        "A challenge is rejected if the org publishes no usable keys for the challenge's issuer",
        arguments: [
            .failure("E0000007", status: 404), .failure("E0000006", status: 403), .text("", status: 302), .text("<html>"), .json([]),
            .json(["jwks_uri": 7]),
        ] as [TestOrg.Reply])
    func unknownServer(reply: TestOrg.Reply) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let forged = try phone.org.challenge(more: ["authorizationServerId": "nowhere"], key: TestOrg.foreignKey)
        phone.org.answer(.discovery, reply, reply)
        let challenge = try phone.parse(forged)
        for error in [await failure { try await challenge.verify() }, await failure { try await challenge.resolve { _ in } }] {
            guard case .securityError(.jwtError("JWT verification failed"))? = error else {
                Issue.record("unexpected: \(String(describing: error))")
                continue
            }
        }
        phone.org.answer(.keys, .json(["keys": 7]))
        #expect(await failure { try await challenge.verify() }?.reason == .untrustedChallenge)
        #expect(phone.org.requests(.verify).isEmpty)
    }

    @Test(
        "If the org's keys are temporarily unavailable, the error gives the cause, and the challenge can be resolved later",
        arguments: [
            (.failure("E0000047", status: 429), .tooManyRequests), (.text("", status: 503), .other), (.offline, .network),
        ] as [(TestOrg.Reply, DeviceAuthenticatorError.Reason)])
    func keysUnavailable(reply: TestOrg.Reply, reason: DeviceAuthenticatorError.Reason) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.org.publish([TestOrg.nextKey])
        phone.org.answer(.discovery, reply)
        let challenge = try phone.parse(phone.org.challenge(key: TestOrg.nextKey))
        #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == reason)
        try await challenge.resolve(onRemediation: approving)
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test("If the network is unavailable, a challenge with a known key can be verified, but not a challenge with an unknown key")
    func offline() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.org.answer(.discovery, .offline)
        let known = try phone.parse(phone.org.challenge())
        try await known.verify()
        let unknown = try phone.parse(phone.org.challenge(key: TestOrg.nextKey))
        #expect(await failure { try await unknown.verify() }?.reason == .network)
    }
}
