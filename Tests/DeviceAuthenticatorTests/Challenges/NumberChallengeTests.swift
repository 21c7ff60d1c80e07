import AuthFoundation
import Foundation
import JOSE
import Testing

@testable import DeviceAuthenticator

@Suite("The number challenge")
struct NumberChallengeTests {
    private static let context: JSONValue = ["numberChoices": [12, 7, 88]]

    @Test("The number that the user picks is in the response")
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
        "An approval without a valid number is not sent, and the next resolution asks again",
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

    @Test("The approve action of a notification has no number, so the user is asked")
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

    @Test("A response with a number that was set before needs no step, and a denial needs no number", arguments: [true, false])
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

    @Test("The number is in a response with user verification too")
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
