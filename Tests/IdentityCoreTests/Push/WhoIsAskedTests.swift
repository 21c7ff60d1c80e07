import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints

@Suite("Phones that get a challenge")
struct WhoIsAskedTests {
    private static func organization() async throws -> PushFixture {
        try await PushFixture { $0.authenticators[0].credentials = try? PushFixture.pushCredentials() }
    }

    @Test("A sign-in sends a push to each of the user's phones")
    func allPhones() async throws {
        let org = try await Self.organization()
        let first = try await org.enroll()
        let second = try await org.enroll(existing: first, at: 2)
        _ = try await org.enroll(PushFixture.john)
        try await org.change(first, ["pushToken": "aa01"], at: 4)
        try await org.change(second, ["pushToken": "bb02"], at: 4)
        org.outbox.clear()
        _ = try await org.challenge(org.mfaToken()).get()
        let pushes = Dictionary(uniqueKeysWithValues: org.outbox.pushes.map { ($0.enrollmentID, $0) })
        #expect(org.outbox.pushes.count == 2)
        for (phone, token) in [(first, "aa01"), (second, "bb02")] {
            let push = try #require(pushes[phone.enrollmentID])
            #expect(push.pushToken == token && push.expiresAt == TestOrganization.time(311))
            let payload = try JSONValue(parsing: push.payload)
            let pushed = try JSONWebSignature(parsing: payload["challenge"]?.stringValue ?? "").unverifiedClaims().json
            // A pushed challenge equals the fetched one, and contains nothing about the other phone.
            #expect(try await org.pending(phone, at: 12) == [pushed])
            #expect(pushed["authenticatorEnrollmentId"]?.stringValue == phone.enrollmentID)
            #expect(pushed["transactionId"]?.stringValue == push.collapseID)
        }
        #expect(Set(org.outbox.pushes.map(\.collapseID)).count == 2)
    }

    @Test("A phone with an unregistered push token gets no push, but can fetch and approve the challenge")
    func deadToken() async throws {
        let org = try await Self.organization()
        let first = try await org.enroll()
        let second = try await org.enroll(existing: first, at: 2)
        try await org.change(first, ["pushToken": "aa01"], at: 4)
        try await org.engine.pushTokenDied(
            enrollmentID: first.enrollmentID, token: "aa01", since: nil, context: PushFixture.context(5))
        org.outbox.clear()
        let token = try await org.mfaToken()
        let started = try await org.challenge(token).get()
        #expect(org.outbox.pushes.map(\.enrollmentID) == [second.enrollmentID])
        #expect(try await org.answer(first, at: 12).get() == .approved)
        _ = try await org.poll(token, started.secret(), at: 16).get()
    }

    @Test("A back-channel request is sent only to phones with the back-channel capability, and a sign-in push is sent to all phones")
    func backchannel() async throws {
        let org = try await Self.organization()
        let first = try await org.enroll()
        let second = try await org.enroll(existing: first, transactionTypes: ["LOGIN"], at: 2)
        org.outbox.clear()
        let asked = try await org.backchannel().get()
        #expect(org.outbox.pushes.map(\.enrollmentID) == [first.enrollmentID])
        #expect(try await org.targets() == [first.enrollmentID])
        #expect(try await org.pending(first, at: 12).count == 1)
        #expect(try await org.pending(second, at: 12).isEmpty)
        // The other phone cannot answer this challenge.
        let challenge = try await org.newest(first, at: 12)
        #expect(try await org.send(PushFixture.sign(second, challenge, at: 12), at: 12).code == "E0000001")
        #expect(try await org.answer(first, at: 13).get() == .approved)
        _ = try await org.pollBackchannel(asked.secret(), at: 17).get()
        org.outbox.clear()
        _ = try await org.challenge(org.mfaToken(at: 20), at: 21).get()
        #expect(Set(org.outbox.pushes.map(\.enrollmentID)) == [first.enrollmentID, second.enrollmentID])
        #expect(try await org.targets() == [first.enrollmentID, second.enrollmentID].sorted())
    }
}
