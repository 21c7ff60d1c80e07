import AuthFoundation
import Foundation
import JOSE
import Testing

@testable import DeviceAuthenticator

@Suite("Number challenge")
struct NumberChallengeTests {
    private static let context: JSONValue = ["numberChoices": [12, 7, 88]]

    @Test("The response to a number challenge contains the number that the user picks")
    func picked() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        try await phone.parse(phone.org.challenge(context: Self.context)).resolve { step in
            guard let step = step as? RemediationStepUserConsent else { return }
            #expect(step.numberChoices == ["12", "07", "88"])
            step.provide(.approved, selectedNumber: "07")
        }
        #expect(
            try phone.org.answers().first?.claims["challengeResponseContext"]
                == ["userConsent": "APPROVED_CONSENT_PROMPT", "transactionType": "LOGIN", "selectedNumber": "07"])
    }

    @Test(
        "An approval of a number challenge with a missing or wrong number is not sent, and the user can answer again",
        arguments: [nil, "7", "99", ""] as [String?])
    func notPicked(number: String?) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge(context: Self.context))
        let error = await failure {
            try await challenge.resolve { ($0 as? RemediationStepUserConsent)?.provide(.approved, selectedNumber: number) }
        }
        #expect(error?.reason == .numberNotPicked)
        #expect(phone.org.requests(.verify).isEmpty)
        #expect(challenge.userResponse == .userNotResponded)
        try await challenge.resolve { ($0 as? RemediationStepUserConsent)?.provide(.approved, selectedNumber: "88") }
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test("If the user approves a number challenge in the notification, the app still asks for the number")
    func action() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge(context: Self.context), action: "APPROVE_BUTTON")
        let steps = Recorder<[String]?>()
        try await challenge.resolve { step in
            guard let step = step as? RemediationStepUserConsent else { return }
            steps.add(step.numberChoices)
            step.provide(.approved, selectedNumber: "12")
        }
        #expect(steps.all == [["12", "07", "88"]])
    }

    @Test(
        "If the app sets a denial, or an approval with a number, before it resolves a number challenge, the user is not asked",
        arguments: [true, false])
    func before(approved: Bool) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge(context: Self.context))
        challenge.userResponse = approved ? .userApproved : .userDenied
        if approved { challenge.selectedNumber = "12" }
        let steps = Recorder<RemediationStep>()
        try await challenge.resolve { step in
            steps.add(step)
            step.defaultProcess()
        }
        #expect(steps.all.isEmpty)
        #expect(try phone.org.answers().first?.claims["challengeResponseContext"]?["selectedNumber"] == (approved ? "12" : nil))
    }

    @Test("The response to a number challenge with user verification contains the number that the user picks")
    func verified() async throws {
        let phone = try TestPhone()
        try await phone.enroll(verification: true)
        let jwt = try phone.org.challenge(more: ["userVerification": "REQUIRED"], context: Self.context)
        try await phone.parse(jwt).resolve { ($0 as? RemediationStepUserConsent)?.provide(.approved, selectedNumber: "12") }
        #expect(
            try phone.org.answers().first?.claims["challengeResponseContext"]
                == ["userConsent": "APPROVED_USER_VERIFICATION", "transactionType": "LOGIN", "selectedNumber": "12"])
    }
}
