import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import Store

/// The actions of the phones of a ``PushFixture``: enrolling, fetching challenges and answering them.
extension PushFixture {
    /// Enrolls a phone as an app does: by a sign-in at the org server with all factors that the server requires.
    ///
    /// - Parameter existing: An enrolled phone that approves the sign-in.
    func enroll(
        _ login: String = jane, existing: Phone? = nil, userVerification: Bool = false, transactionTypes: [String] = ["LOGIN", "CIBA"],
        answersNumbers: Bool = true, at seconds: TimeInterval = 0
    ) async throws -> Phone {
        let token: String
        if let existing {
            let mfaToken = try await mfaToken(login, scope: DeviceFixture.manage, client: "phone-app", server: nil, at: seconds)
            let code = try await challenge(mfaToken, client: "phone-app", server: nil, at: seconds).get().secret()
            _ = try await answer(existing, at: seconds).get()
            token = try await poll(mfaToken, code, client: "phone-app", server: nil, at: seconds).get().accessToken
        } else {
            token = try await signIn(login, scope: DeviceFixture.manage, client: "phone-app", server: nil, at: seconds).get().accessToken
        }
        var phone = try Phone(userID: try await userID(login))
        var body = phone.enrollment(userVerification: userVerification)
        body["methods"]?["push"]?["capabilities"] = [
            "transactionTypes": JSONValue(transactionTypes), "numberChallenge": .bool(answersNumbers),
        ]
        let enrolled = try await engine.enrollDevice(body, authorization: .bearer(token), context: Self.context(seconds))
        try phone.remember(enrolled.get())
        return phone
    }

    /// Returns the claims of each pending challenge of a phone.
    func pending(_ phone: Phone, at seconds: TimeInterval) async throws -> [JSONValue] {
        let authorization = DeviceAuthorization.ssws(try phone.authorization(at: seconds).signed())
        let list = try await engine.pendingChallenges(
            enrollmentID: phone.enrollmentID, authorization: authorization, context: Self.context(seconds)
        ).get()
        return try (list.arrayValue ?? []).map { payload in
            let token = try #require(payload["challenge"]?.stringValue)
            return try JSONWebSignature(parsing: token).unverifiedClaims().json
        }
    }

    /// Returns the newest pending challenge of a phone.
    func newest(_ phone: Phone, at seconds: TimeInterval) async throws -> JSONValue {
        try #require(try await pending(phone, at: seconds).last)
    }

    /// A signed answer that is ready to send.
    struct Signed: Sendable {
        var challengeID: String
        var body: JSONValue
    }

    /// Signs an answer to a challenge.
    static func sign(
        _ phone: Phone, _ challenge: JSONValue, consent: String = "APPROVED_CONSENT_PROMPT",
        with role: PushMethod.KeyRole = .proofOfPossession, number: String? = nil, suspicious: Bool? = nil, at seconds: TimeInterval
    ) throws -> Signed {
        let id = try #require(challenge["transactionId"]?.stringValue)
        let target = PushChallenge.Target(
            id: id, enrollmentID: phone.enrollmentID, methodID: phone.methodID, nonce: challenge["nonce"]?.stringValue ?? "",
            userVerification: .preferred, methods: [])
        var draft = phone.answer(to: target, with: role, consent: consent, at: seconds)
        draft.claims["challengeResponseContext"]?["transactionType"] = challenge["challengeContext"]?["transactionType"]
        draft.claims["challengeResponseContext"]?["selectedNumber"] = number.map(JSONValue.string)
        draft.claims["challengeResponseContext"]?["suspicious"] = suspicious.map(JSONValue.bool)
        return Signed(challengeID: id, body: ["method": "push", "challengeResponse": .string(try draft.signed())])
    }

    func send(_ answer: Signed, at seconds: TimeInterval) async throws -> Result<ChallengeAnswerOutcome, DeviceRefusal> {
        try await engine.answerChallenge(id: answer.challengeID, body: answer.body, context: Self.context(seconds))
    }

    /// Answers the newest pending challenge of a phone.
    func answer(
        _ phone: Phone, consent: String = "APPROVED_CONSENT_PROMPT", with role: PushMethod.KeyRole = .proofOfPossession,
        number: String? = nil, at seconds: TimeInterval
    ) async throws -> Result<ChallengeAnswerOutcome, DeviceRefusal> {
        let challenge = try await newest(phone, at: seconds)
        return try await send(
            Self.sign(phone, challenge, consent: consent, with: role, number: number, at: seconds), at: seconds)
    }

    // MARK: - Changes

    /// Changes a phone's push method. The phone's own signature authorizes the request.
    func change(_ phone: Phone, _ push: JSONValue, at seconds: TimeInterval) async throws {
        _ = try await engine.updateDeviceEnrollment(
            id: phone.enrollmentID, patch: ["methods": ["push": push]],
            authorization: .ssws(try phone.authorization(at: seconds).signed()), context: Self.context(seconds)
        ).get()
    }

    /// Deletes a phone's enrollment. The phone's own signature authorizes the request.
    func delete(_ phone: Phone, at seconds: TimeInterval) async throws {
        try await engine.deleteDeviceEnrollment(
            id: phone.enrollmentID, authorization: .ssws(try phone.authorization(at: seconds).signed()), context: Self.context(seconds)
        ).get()
    }

    /// Returns credentials for a push service, with a new key.
    static func pushCredentials() throws -> PushAuthenticator.Credentials {
        let pem = try #require(try SigningKey.generate(.es256).privatePEM)
        return .init(teamID: "ABCDE12345", keyID: "FGHIJ67890", privateKey: pem, topic: "com.example.app")
    }

    /// Returns the sorted ids of the enrollments to which the newest challenge was sent.
    func targets() async throws -> [String] {
        let transactions = try await store.read { view in
            try view.records(.transaction, after: nil, limit: 1_000).map { try StoredTransaction($0).value }
        }
        let newest = transactions.compactMap(\.challenge).max { $0.createdAt < $1.createdAt }
        return try #require(newest).targets.map(\.enrollmentID).sorted()
    }
}
