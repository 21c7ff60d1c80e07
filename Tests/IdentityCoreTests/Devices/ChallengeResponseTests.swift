import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import Store

@Suite("Challenge responses of devices")
struct ChallengeResponseTests {
    /// An enrolled phone and its pending challenge.
    private struct Question {
        let phone: Phone
        var enrollment: Enrollment
        let device: Device
        let target: PushChallenge.Target

        init() async throws {
            let fixture = try await DeviceFixture()
            phone = try await fixture.enrolledPhone(userVerification: true)
            enrollment = try await fixture.stored(phone)
            device = try await fixture.storedDevice(phone)
            target = PushChallenge.Target(
                id: "ft000000000000000001", enrollmentID: phone.enrollmentID, methodID: phone.methodID, nonce: "q1w2e3",
                userVerification: .preferred, methods: ["swk"])
        }

        func read(
            _ token: String, _ type: PushMethod.TransactionType = .login, target other: PushChallenge.Target? = nil,
            issuer: String = TestOrganization.origin
        ) throws(DeviceRefusal) -> ChallengeResponse {
            try ChallengeResponse(
                verifying: token, target: other ?? target, transactionType: type, issuer: issuer, enrollment: enrollment, device: device,
                now: TestOrganization.time(2))
        }

        /// Whether the API refuses an answer with the right error.
        func refuses(_ draft: TokenDraft, _ reason: String? = nil) throws -> Bool {
            let token = try draft.signed()
            do {
                _ = try read(token)
                return false
            } catch {
                return error.code == "E0000001" && error.status == 400 && error.causes.count == 1
                    && (reason.map { error.reason.contains($0) } ?? true)
            }
        }
    }

    @Test("A challenge response contains the user's decision and the role of its key, and is valid once")
    func reads() async throws {
        let question = try await Question()
        let draft = question.phone.answer(to: question.target)
        let response = try question.read(draft.signed())
        #expect(
            response.answer
                == PushAnswer(targetID: question.target.id, consent: .approved, keyRole: .proofOfPossession, selectedNumber: nil))
        #expect(response.jwtID == draft.claims["jti"]?.stringValue)
        let store = InMemoryStore()
        #expect(try await store.commit([response.use.change]) == .committed)
        #expect(try await store.commit([response.use.change]) != .committed)
    }

    @Test(
        "A challenge response can be signed by the user verification key, and contain a selected number and a report of suspicious activity"
    )
    func additions() async throws {
        let question = try await Question()
        let verified = try question.read(
            question.phone.answer(to: question.target, with: .userVerification, consent: "APPROVED_USER_VERIFICATION").signed())
        #expect(verified.answer.keyRole == .userVerification && verified.answer.consent == .approvedByUserVerification)
        let context: JSONValue = [
            "userConsent": "DENIED_CONSENT_PROMPT", "transactionType": "LOGIN", "selectedNumber": "42", "suspicious": true,
        ]
        let answer = try question.read(question.phone.answer(to: question.target).with("challengeResponseContext", context).signed()).answer
        #expect(answer.selectedNumber == "42" && answer.isSuspicious && answer.consent == .denied)
    }

    @Test("A challenge response with a wrong claim, header or signature is rejected", arguments: Twin.allCases)
    func twins(twin: Twin) async throws {
        let question = try await Question()
        let draft = question.phone.answer(to: question.target)
        let forged = try twin.token(for: draft)
        do {
            _ = try question.read(forged)
            Issue.record("it was taken")
        } catch {
            #expect(error.code == "E0000001" && error.status == 400 && error.causes.count == 1)
            #expect(error.reason.hasPrefix("challenge response: "))
        }
        _ = try question.read(draft.signed())
    }

    @Test(
        "A challenge response is bound to its challenge, method, device and transaction type",
        arguments: [
            ("tx", "ft000000000000000002"), ("tx", nil), ("nonce", "another"), ("nonce", nil), ("methodEnrollmentId", "opf0"),
            ("methodEnrollmentId", nil), ("keyType", "userVerification"), ("keyType", nil), ("keyType", "userVerificationBioOrPin"),
            ("deviceSignals", ["id": "guo0"]), ("deviceSignals", ["clientInstanceId": "cli0"]), ("deviceSignals", "phone"),
            ("challengeResponseContext", nil), ("challengeResponseContext", ["userConsent": "APPROVED_CONSENT_PROMPT"]),
            ("challengeResponseContext", ["userConsent": "APPROVED_CONSENT_PROMPT", "transactionType": "CIBA"]),
            ("challengeResponseContext", ["transactionType": "LOGIN"]),
            ("challengeResponseContext", ["userConsent": "MAYBE", "transactionType": "LOGIN"]),
            ("challengeResponseContext", ["userConsent": "NONE", "transactionType": "LOGIN", "selectedNumber": 42]),
            ("challengeResponseContext", ["userConsent": "NONE", "transactionType": "LOGIN", "suspicious": "yes"]),
        ] as [(String, JSONValue?)])
    func bindings(name: String, value: JSONValue?) async throws {
        let question = try await Question()
        #expect(try question.refuses(question.phone.answer(to: question.target).with(name, value)))
    }

    @Test("Device signals are optional in a challenge response")
    func signals() async throws {
        let question = try await Question()
        for signals in [nil, .null, [:]] as [JSONValue?] {
            _ = try question.read(question.phone.answer(to: question.target).with("deviceSignals", signals).signed())
        }
    }

    @Test("A challenge response is rejected if its key is not enrolled or does not have the role that the response states")
    func roles() async throws {
        var question = try await Question()
        var crossed = question.phone.answer(to: question.target, with: .userVerification)
        crossed.key = question.phone.possessionKey
        #expect(try question.refuses(crossed, "keyType"))
        crossed.key = question.phone.instanceKey
        #expect(try question.refuses(crossed, "unknownKey"))
        question.enrollment.push?.userVerification = nil
        #expect(try question.refuses(question.phone.answer(to: question.target, with: .userVerification), "unknownKey"))
    }

    @Test("A challenge response for the challenge of another enrollment or of a replaced push method is rejected")
    func otherTarget() async throws {
        let question = try await Question()
        var target = question.target
        target.enrollmentID = "pfd00000000000000000"
        let token = try question.phone.answer(to: target).signed()
        #expect(throws: DeviceRefusal.self) { try question.read(token, target: target) }
        target = question.target
        target.methodID = "opf00000000000000000"
        let replaced = try question.phone.answer(to: target).with("methodEnrollmentId", .string(target.methodID)).signed()
        #expect(throws: DeviceRefusal.self) { try question.read(replaced, target: target) }
    }

    @Test(
        "A challenge response is rejected if its audience is not the challenge's issuer, or if its transaction type is not the challenge's type"
    )
    func audience() async throws {
        let question = try await Question()
        let token = try question.phone.answer(to: question.target).signed()
        #expect(throws: DeviceRefusal.self) { try question.read(token, issuer: TestOrganization.origin + "/oauth2/default") }
        #expect(throws: DeviceRefusal.self) { try question.read(token, .ciba) }
    }
}
