import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import Store

/// Tests each row of Documentation/Protocol/Devices.md §5.5, from the answer that a phone signed to the result of the client.
@Suite("Responses to push challenges")
struct AnswerWordsTests {
    enum Result: Equatable { case approved, approvedVerified, denied, failed, invalid }

    /// The user verification that a challenge asks for, and the key that signs the answer.
    enum Question: CaseIterable, Sendable {
        case discouraged, preferred, required, discouragedByNoKeyOfOurs, preferredByVerification, requiredByVerification

        /// The challenge's claim `userVerification`.
        var userVerification: String {
            switch self {
            case .discouraged, .discouragedByNoKeyOfOurs: "DISCOURAGED"
            case .preferred, .preferredByVerification: "PREFERRED"
            case .required, .requiredByVerification: "REQUIRED"
            }
        }

        var role: PushMethod.KeyRole {
            switch self {
            case .discouraged, .preferred, .required: .proofOfPossession
            case .discouragedByNoKeyOfOurs, .preferredByVerification, .requiredByVerification: .userVerification
            }
        }
    }

    /// A value of `userConsent`, and its result for each ``Question`` in order.
    struct Word: Sendable, CustomTestStringConvertible {
        var text: String
        var results: [Result]
        var testDescription: String { text }

        init(_ text: String, _ results: Result...) {
            self.text = text
            self.results = results
        }
    }

    static let words = [
        Word("APPROVED_USER_VERIFICATION", .invalid, .invalid, .invalid, .invalid, .approvedVerified, .approvedVerified),
        Word("APPROVED_CONSENT_PROMPT", .approved, .approved, .invalid, .invalid, .invalid, .invalid),
        Word("NONE", .invalid, .approved, .failed, .invalid, .invalid, .invalid),
        Word("UV_TEMPORARILY_UNAVAILABLE", .invalid, .approved, .failed, .invalid, .invalid, .invalid),
        Word("UV_PERMANENTLY_UNAVAILABLE", .invalid, .approved, .failed, .invalid, .invalid, .invalid),
        Word("CANCELLED_USER_VERIFICATION", .failed, .failed, .failed, .invalid, .failed, .failed),
        Word("USER_ABANDONED", .failed, .failed, .failed, .invalid, .failed, .failed),
        Word("DENIED_CONSENT_PROMPT", .denied, .denied, .denied, .invalid, .denied, .denied),
        Word("approved_consent_prompt", .invalid, .invalid, .invalid, .invalid, .invalid, .invalid),
        Word("", .invalid, .invalid, .invalid, .invalid, .invalid, .invalid),
    ]

    /// An organization, a user's phone, and a sign-in that waits for it.
    private struct Asked {
        let org: PushFixture
        let phone: Phone
        let code: String
        let challenge: JSONValue

        init(_ question: Question) async throws {
            let verification = question.userVerification
            org = try await PushFixture { if verification == "REQUIRED" { $0.authenticators[0].userVerification = .required } }
            phone = try await org.enroll(userVerification: verification != "DISCOURAGED")
            code = try await org.primary().get().secret()
            challenge = try await org.newest(phone, at: 12)
            #expect(challenge["userVerification"]?.stringValue == verification)
        }

        func answer(
            _ consent: String, with role: PushMethod.KeyRole, at seconds: TimeInterval
        ) async throws -> Swift.Result<ChallengeAnswerOutcome, DeviceRefusal> {
            try await org.send(PushFixture.sign(phone, challenge, consent: consent, with: role, at: seconds), at: seconds)
        }
    }

    @Test(
        "Each userConsent value of a challenge response has the result of Devices.md §5.5 for the device and for the polling client",
        arguments: Question.allCases, words)
    func outcome(question: Question, word: Word) async throws {
        let asked = try await Asked(question)
        let index = try #require(Question.allCases.firstIndex(of: question))
        let answer = try await asked.answer(word.text, with: question.role, at: 13)
        let poll = try await asked.org.pollFirst(asked.code, at: 16)
        switch word.results[index] {
        case .approved, .approvedVerified:
            #expect(try answer.get() == .approved)
            let isVerified = word.results[index] == .approvedVerified
            let methods = try claims(of: try poll.get().idToken)["amr"]?.stringArrayValue
            #expect(methods == (isVerified ? ["swk", "mfa"] : ["swk"]))
        case .denied:
            #expect(try answer.get() == .denied)
            #expect(poll.refused == .accessDenied)
        case .failed:
            #expect(answer.code == "E0000001" && answer.status == 400)
            #expect(poll.refused == .accessDenied)
        case .invalid:
            #expect(answer.code == "E0000001" && answer.status == 400)
            #expect(poll.refused == .authorizationPending)
            // An invalid answer does not count, so a later answer is accepted.
            #expect(try await asked.answer("DENIED_CONSENT_PROMPT", with: .proofOfPossession, at: 17).get() == .denied)
            #expect(try await asked.org.pollFirst(asked.code, at: 22).refused == .accessDenied)
            return
        }
        let again = try await asked.answer("DENIED_CONSENT_PROMPT", with: .proofOfPossession, at: 17)
        #expect(again.code == "E0000001" && again.why == "The challenge was answered before.")
    }

    @Test(
        "A response signed by the possession key never removes the user verification key, even if the response reports that key as unavailable",
        arguments: words.map(\.text), [Question.preferred, .required])
    func lostKey(word: String, question: Question) async throws {
        let asked = try await Asked(question)
        let answer = try await asked.answer(word, with: .proofOfPossession, at: 13)
        let index = try #require(Question.allCases.firstIndex(of: question))
        switch try #require(Self.words.first { $0.text == word }).results[index] {
        case .approved, .approvedVerified: #expect(try answer.get() == .approved)
        case .denied: #expect(try answer.get() == .denied)
        case .failed, .invalid: #expect(answer.code == "E0000001" && answer.status == 400)
        }
        let id = asked.phone.enrollmentID
        let record: Record? = try await asked.org.store.read { try $0.record(.enrollment, id: id) }
        #expect(try Enrollment(try #require(record)).push?.key(id: asked.phone.verificationKey.keyID ?? "")?.role == .userVerification)
    }

    @Test(
        "The system log records a denied push as a denial, or as suspicious activity if the user reports the sign-in",
        arguments: [nil, false, true])
    func suspicious(said: Bool?) async throws {
        let asked = try await Asked(.preferred)
        let answer = try PushFixture.sign(
            asked.phone, asked.challenge, consent: "DENIED_CONSENT_PROMPT", suspicious: said, at: 13)
        #expect(try await asked.org.send(answer, at: 13).get() == .denied)
        let reported = try await asked.org.log("user.account.report_suspicious_activity")
        let denied = try await asked.org.log("user.mfa.push.answer")
        #expect(reported.count == (said == true ? 1 : 0) && denied.count == (said == true ? 0 : 1))
        let line = try #require((reported + denied).first)
        #expect(line.outcome == .denied && line.userID == asked.phone.userID && line.clientID == "one-factor-app")
        #expect(line.reason == (said == true ? "denied: it was not me" : "denied") + "; device \(asked.phone.enrollmentID)")
        #expect(line.time == TestOrganization.time(13) && line.address == "127.0.0.1")
        #expect(try await asked.org.pollFirst(asked.code, at: 16).refused == .accessDenied)
    }
}
