import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("User verification of a challenge (D6-4, D6-6, Documentation/Protocol/Devices.md §5.2 and §5.3)")
struct UserVerificationTests {
    @Test(
        "The challenge's user verification requirement and the enrollment's keys determine which key signs the response",
        arguments: [
            ("NONE", true, "APPROVED_CONSENT_PROMPT", nil), ("DISCOURAGED", true, "APPROVED_CONSENT_PROMPT", nil),
            ("PREFERRED", true, "APPROVED_USER_VERIFICATION", nil), ("REQUIRED", true, "APPROVED_USER_VERIFICATION", nil),
            ("required", true, "APPROVED_CONSENT_PROMPT", nil), ("NONE", false, "APPROVED_CONSENT_PROMPT", nil),
            ("PREFERRED", false, "NONE", RemediationStepMessageReasonType.userVerificationKeyNotEnrolled),
            ("REQUIRED", false, "UV_PERMANENTLY_UNAVAILABLE", .userVerificationKeyNotEnrolled),
        ])
    func keyChoice(wanted: String, hasKey: Bool, consent: String, message: RemediationStepMessageReasonType?) async throws {
        let phone = try TestPhone()
        try await phone.enroll(verification: hasKey ? true : nil)
        let messages = Recorder<RemediationStepMessage>()
        try await phone.parse(phone.org.challenge(more: ["userVerification": .string(wanted)])).resolve { step in
            if let step = step as? RemediationStepMessage { messages.add(step) }
            approving(step)
        }
        let (header, claims) = try #require(try phone.org.answers().first)
        let keys = try #require(try phone.org.bodies(.enroll)[0]["methods"]?["push"]?["keys"])
        let isVerified = consent == "APPROVED_USER_VERIFICATION"
        #expect(claims["challengeResponseContext"]?["userConsent"] == .string(consent))
        #expect(claims["keyType"] == (isVerified ? "userVerification" : "proofOfPossession"))
        #expect(claims["amr"] == (isVerified ? ["pin"] : []))
        #expect(header["kid"] == keys[isVerified ? "userVerification" : "proofOfPossession"]?["kid"])
        #expect(messages.all.map(\.reasonType) == [message].compactMap { $0 })
        #expect(messages.all.allSatisfy { $0.messageType == .nonFatalError && $0.message != nil && $0.challenge?.transactionId == "ft1" })
    }

    @Test(
        "After a failed user verification, the app gets a message, and the response is signed with the proof-of-possession key",
        arguments: [
            (
                UserVerificationFailure.cancelled, "CANCELLED_USER_VERIFICATION",
                RemediationStepMessageReasonType.userVerificationCancelledByUser,
                DeviceAuthenticatorError.Reason.userVerificationCancelled
            ),
            (.failed, "UV_TEMPORARILY_UNAVAILABLE", .userVerificationFailed, .userVerificationFailed),
            (.unavailable, "UV_TEMPORARILY_UNAVAILABLE", .userVerificationFailed, .userVerificationUnavailable),
        ])
    func failure(
        cause: UserVerificationFailure, consent: String, message: RemediationStepMessageReasonType, reason: DeviceAuthenticatorError.Reason
    ) async throws {
        let phone = try TestPhone()
        try await phone.enroll(verification: true)
        phone.verifier?.answer(.failure(cause))
        phone.org.answer(.verify, .failure("E0000001", status: 400, causes: [["errorSummary": "User verification failed."]]))
        let messages = Recorder<RemediationStepMessage>()
        let challenge = try phone.parse(phone.org.challenge(more: ["userVerification": "REQUIRED"]))
        let error = await DeviceAuthenticatorTests.failure {
            try await challenge.resolve { step in
                if let step = step as? RemediationStepMessage { messages.add(step) }
                approving(step)
            }
        }
        #expect(error?.reason == reason)
        let (header, claims) = try #require(try phone.org.answers().first)
        #expect(claims["challengeResponseContext"]?["userConsent"] == .string(consent))
        #expect(claims["keyType"] == "proofOfPossession")
        #expect(header["kid"] == (try phone.org.bodies(.enroll)[0]["methods"]?["push"]?["keys"]?["proofOfPossession"]?["kid"]))
        #expect(messages.all.map(\.reasonType) == [message])
        #expect(messages.all.first?.error?.reason == reason)
    }

    @Test(
        "If the PIN is wrong or missing, the response is not signed with the user verification key",
        arguments: ["1111", "", nil] as [String?])
    func wrongPIN(pin: String?) async throws {
        let phone = try TestPhone()
        try await phone.enroll(verification: true)
        phone.verifier?.answer(.success(UserVerification(method: .pin, secret: pin.map { Data($0.utf8) })))
        try await phone.parse(phone.org.challenge(more: ["userVerification": "REQUIRED"])).resolve(onRemediation: approving)
        let claims = try #require(try phone.org.answers().first?.claims)
        #expect(claims["challengeResponseContext"]?["userConsent"] == "UV_TEMPORARILY_UNAVAILABLE")
        #expect(claims["keyType"] == "proofOfPossession")
    }

    @Test(
        "If the user verification key is lost or damaged, the app gets a message, whether verification is required or preferred",
        arguments: ["PREFERRED", "REQUIRED"], [true, false])
    func lostKey(wanted: String, damaged: Bool) async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll(verification: true)
        let tag = try #require(enrollment.record.verificationKeyTag)
        if damaged {
            // The test replaces the guarded key by an unguarded one with the same tag.
            let keys = FileDeviceKeyStore(directory: phone.folder.url)
            try keys.deleteKey(tag: tag)
            _ = try keys.makeKey(tag: tag)
        } else {
            try FileDeviceKeyStore(directory: phone.folder.url).deleteKey(tag: tag)
        }
        let messages = Recorder<RemediationStepMessage>()
        try await phone.parse(phone.org.challenge(more: ["userVerification": .string(wanted)])).resolve { step in
            if let step = step as? RemediationStepMessage { messages.add(step) }
            approving(step)
        }
        #expect(messages.all.map(\.reasonType) == [.userVerificationKeyCorruptedOrMissing])
        #expect(messages.all.first?.error?.reason == .keyMissing)
        let consent = try phone.org.answers().first?.claims["challengeResponseContext"]?["userConsent"]
        #expect(consent == "UV_PERMANENTLY_UNAVAILABLE")
    }

    @Test("A denial of a challenge that requires user verification does not ask for the PIN")
    func denied() async throws {
        let phone = try TestPhone()
        try await phone.enroll(verification: true)
        try await phone.parse(phone.org.challenge(more: ["userVerification": "REQUIRED"])).resolve { $0.defaultProcess() }
        #expect(phone.verifier?.requests.map(\.purpose) == [.makeKey])
        #expect(try phone.org.answers().first?.claims["keyType"] == "proofOfPossession")
    }

    @Test(
        "The user verification prompt shows what the user approves, and the response contains the verification method",
        arguments: UserVerification.Method.allCases)
    func reason(method: UserVerification.Method) async throws {
        let phone = try TestPhone(verifier: TestVerifier(.success(UserVerification(method: method))))
        try await phone.enroll(verification: true)
        try await phone.parse(phone.org.challenge(more: ["userVerification": "PREFERRED"])).resolve(onRemediation: approving)
        let jwt = try phone.org.challenge(
            "ft2", more: ["userVerification": "PREFERRED"], context: ["transactionType": "CIBA", "bindingMessage": "Pay 5 €"])
        try await phone.parse(jwt).resolve(onRemediation: approving)
        #expect(phone.verifier?.requests.dropFirst().map(\.reason) == ["Sign in to Acme Portal", "Pay 5 €"])
        #expect(try phone.org.answers().map { $0.claims["amr"] } == [[.string(method.rawValue)], [.string(method.rawValue)]])
    }

    @Test("If the user cancels user verification and the server has deleted the enrollment, the app gets the server's error")
    func serverWins() async throws {
        let phone = try TestPhone()
        try await phone.enroll(verification: true)
        phone.verifier?.answer(.failure(.cancelled))
        phone.org.answer(.verify, .failure("E0000154", status: 410))
        let challenge = try phone.parse(phone.org.challenge(more: ["userVerification": "REQUIRED"]))
        let error = await DeviceAuthenticatorTests.failure { try await challenge.resolve(onRemediation: approving) }
        #expect(error?.reason == .enrollmentGone)
        // The enrollment is not deleted: the app receives the error and decides.
        #expect(try phone.authenticator.allEnrollments().count == 1)
    }

    @Test(
        "If the app's key store fails during user verification, the app gets a message, and the proof-of-possession key signs the response",
        arguments: [true, false])
    func foreignFailure(isRequired: Bool) async throws {
        let phone = try TestPhone()
        try await phone.enroll(verification: true)
        let keys = BrokenGuardedKeys(keys: FileDeviceKeyStore(directory: phone.folder.url, secretCost: 10))
        let authenticator = try phone.builder.keyStore(keys).create()
        let jwt = try phone.org.challenge(more: ["userVerification": isRequired ? "REQUIRED" : "PREFERRED"])
        let challenge = try authenticator.parsePushNotification(
            userInfo: ["payloadVersion": "IDXv1", "challenge": jwt], actionIdentifier: nil, allowedClockSkewInSeconds: 300)
        let messages = Recorder<RemediationStepMessage>()
        try await challenge.resolve { step in
            if let step = step as? RemediationStepMessage { messages.add(step) }
            approving(step)
        }
        #expect(messages.all.map(\.reasonType) == [.userVerificationKeyNotEnrolled])
        #expect(messages.all.first?.error == .internalError(""))
        let claims = try #require(try phone.org.answers().first?.claims)
        #expect(claims["keyType"] == "proofOfPossession")
        #expect(claims["challengeResponseContext"]?["userConsent"] == (isRequired ? "UV_PERMANENTLY_UNAVAILABLE" : "NONE"))
    }
}

/// A key store of an app. Its guarded keys fail with the app's own error.
private struct BrokenGuardedKeys: DeviceKeyStore {
    let keys: FileDeviceKeyStore

    var isHardwareBacked: Bool { keys.isHardwareBacked }
    func makeKey(tag: String) throws -> DevicePublicKey { try keys.makeKey(tag: tag) }
    func makeGuardedKey(tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?) async throws -> DevicePublicKey {
        throw InvalidAnswer()
    }
    func publicKey(tag: String) throws -> DevicePublicKey? { try keys.publicKey(tag: tag) }
    func sign(_ message: Data, tag: String) throws -> Data { try keys.sign(message, tag: tag) }
    func sign(
        guardedTag tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?,
        message: @Sendable (UserVerification.Method) throws -> Data
    ) async throws -> (message: Data, signature: Data) { throw InvalidAnswer() }
    func deleteKey(tag: String) throws { try keys.deleteKey(tag: tag) }
}
