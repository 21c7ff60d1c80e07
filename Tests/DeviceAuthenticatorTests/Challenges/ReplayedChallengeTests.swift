import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

/// Tests challenges that arrive again. The phone keeps no list of answered challenges: the app detects duplicates
/// (Documentation/Protocol/Devices.md §2.8), and the org decides.
@Suite("Repeated challenges")
struct ReplayedChallengeTests {
    private static let answered = TestOrg.Reply.failure(
        "E0000001", status: 400, causes: [["errorSummary": "The challenge was answered before.", "reason": "answered"]])

    @Test("Two parsed copies of a challenge have the same transaction ID, and a response to one copy does not change the other copy")
    func duplicate() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let jwt = try phone.org.challenge()
        let (first, second) = (try phone.parse(jwt), try phone.parse(jwt))
        #expect(first.transactionId == second.transactionId && first !== second)
        first.userResponse = .userApproved
        #expect(second.userResponse == .userNotResponded)
        try await first.resolve(onRemediation: approving)
        #expect(second.userResponse == .userNotResponded)
    }

    @Test(
        "A copy of an answered challenge asks the user again, and fails with alreadyAnswered because the org rejects the second response",
        arguments: [UserConsentResponse.approved, .denied], [UserConsentResponse.approved, .denied])
    func replayed(first: UserConsentResponse, second: UserConsentResponse) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.org.answer(.verify, first == .approved ? .json([:]) : .empty, Self.answered)
        let jwt = try phone.org.challenge()
        try await phone.parse(jwt).resolve { ($0 as? RemediationStepUserConsent)?.provide(first) }
        phone.clock.advance(by: 20)
        let again = try phone.parse(jwt)
        #expect(again.userResponse == .userNotResponded)
        let asked = Recorder<String>()
        let error = await failure {
            try await again.resolve { step in
                asked.add("consent")
                (step as? RemediationStepUserConsent)?.provide(second)
            }
        }
        #expect(asked.all == ["consent"])
        #expect(error?.reason == .alreadyAnswered)
        // Both answers contain the id and the nonce of the challenge, so they are valid for no other challenge.
        let answers = try phone.org.answers().map(\.claims)
        #expect(answers.map { $0["tx"] } == ["ft1", "ft1"] && answers.map { $0["nonce"] } == ["nonce-1", "nonce-1"])
        #expect(answers[0]["jti"] != answers[1]["jti"] && answers[1].issuedAt == 1_800_000_020)
        // The enrollment is unchanged.
        let enrollment = try #require(try phone.authenticator.allEnrollments().first)
        #expect(enrollment.enrollmentId == "pfd1")
        try await phone.parse(phone.org.challenge("ft2", at: phone.clock.now)).resolve(onRemediation: approving)
        #expect(try phone.org.answers().count == 3)
    }

    @Test("Resolving an answered challenge again sends the same response without asking the user, and fails with alreadyAnswered")
    func sameObject() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.org.answer(.verify, .empty, Self.answered)
        let challenge = try phone.parse(phone.org.challenge())
        try await challenge.resolve { ($0 as? RemediationStepUserConsent)?.provide(.denied) }
        let error = await failure { try await challenge.resolve(onRemediation: approving) }
        #expect(error?.reason == .alreadyAnswered && challenge.userResponse == .userDenied)
        #expect(
            try phone.org.answers().map { $0.claims["challengeResponseContext"]?["userConsent"] }
                == ["DENIED_CONSENT_PROMPT", "DENIED_CONSENT_PROMPT"])
    }

    @Test(
        "A copy of an expired challenge neither asks the user nor sends a response, even after a restart of the app",
        arguments: [false, true])
    func expired(isRestarted: Bool) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let jwt = try phone.org.challenge()
        try await phone.parse(jwt).resolve(onRemediation: approving)
        phone.clock.advance(by: 601)
        let later = isRestarted ? try TestPhone(org: phone.org, folder: phone.folder, clock: phone.clock) : phone
        let again = try later.parse(jwt)
        let error = await failure {
            try await again.resolve { _ in Issue.record("The phone must not ask the user.") }
        }
        #expect(error?.reason == .expired)
        #expect(phone.org.requests(.verify).count == 1)
    }
}
