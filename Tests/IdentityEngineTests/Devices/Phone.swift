import Foundation
import JOSE
import Testing

@testable import IdentityEngine

/// An app installation with real keys, as the official client makes them and signs with them.
struct Phone: Sendable {
    let userID: String
    var instanceKey: SigningKey
    var possessionKey: SigningKey
    var verificationKey: SigningKey
    var enrollmentID = ""
    var methodID = ""
    var deviceID = ""
    var clientInstanceID = ""

    init(userID: String) throws {
        self.userID = userID
        instanceKey = try .generate(.es256, keyID: UUID().uuidString)
        possessionKey = try .generate(.es256, keyID: UUID().uuidString)
        verificationKey = try .generate(.es256, keyID: UUID().uuidString)
    }

    /// Takes what an enrolment answered.
    mutating func remember(_ answer: JSONValue) throws {
        enrollmentID = try #require(answer["id"]?.stringValue)
        methodID = try #require(answer["methods"]?["push"]?["id"]?.stringValue)
        deviceID = try #require(answer["device"]?["id"]?.stringValue)
        clientInstanceID = try #require(answer["device"]?["clientInstanceId"]?.stringValue)
    }

    /// The same installation, about to enrol another person or anew: keys of its own, the device as before.
    func again(for userID: String? = nil) throws -> Phone {
        var phone = try Phone(userID: userID ?? self.userID)
        phone.instanceKey = instanceKey
        phone.deviceID = deviceID
        phone.clientInstanceID = clientInstanceID
        return phone
    }

    // MARK: - Bodies

    static func jwk(_ key: SigningKey) throws -> JSONValue {
        var json = try #require(key.publicKey).json()
        json["alg"] = nil
        json["use"] = nil
        json["okta:kpr"] = "HARDWARE"
        json["okta:isFipsCompliant"] = true
        return json
    }

    static let device: JSONValue = [
        "displayName": "Ada's phone", "platform": "IOS", "manufacturer": "APPLE", "model": "iPhone15,3", "osVersion": "17.4.0",
        "secureHardwarePresent": true, "screenLockType": "BIOMETRIC", "clientInstanceBundleId": "AcmeApp", "clientInstanceVersion": "3.0",
        "clientInstanceDeviceSdkVersion": "DeviceAuthenticator 1.1.0", "authenticatorAppKey": "0C1E", "somethingNew": ["x": 1],
    ]

    /// The body of an enrolment; of a known device with an attestation.
    func enrollment(
        userVerification: Bool = false, attestation: String? = nil, authenticator: String = DeviceFixture.authenticatorID
    ) throws -> JSONValue {
        var device = Self.device
        if let attestation {
            device["id"] = .string(deviceID)
            device["clientInstanceId"] = .string(clientInstanceID)
            device["deviceAttestation"] = ["clientInstanceKeyAttestation": .string(attestation)]
        } else {
            device["clientInstanceKey"] = try Self.jwk(instanceKey)
        }
        var keys: JSONValue = ["proofOfPossession": try Self.jwk(possessionKey)]
        if userVerification { keys["userVerification"] = try Self.jwk(verificationKey) }
        return [
            "authenticatorId": .string(authenticator), "device": device,
            "methods": [
                "push": [
                    "pushToken": "00ff12", "apsEnvironment": "development", "capabilities": ["transactionTypes": ["LOGIN"]], "keys": keys,
                ]
            ],
        ]
    }

    // MARK: - Signed

    private func draft(
        _ key: SigningKey, type: String, issuer: String, audience: String = TestOrganization.origin, subject: String,
        at seconds: TimeInterval
    ) -> TokenDraft {
        let issuedAt = Int64(TestOrganization.time(seconds).timeIntervalSince1970)
        return TokenDraft(
            key: key, header: ["typ": .string(type)],
            claims: [
                "iss": .string(issuer), "aud": .string(audience), "sub": .string(subject), "iat": .integer(issuedAt),
                "exp": .integer(issuedAt + 300), "nbf": .integer(issuedAt - 300), "jti": .string(UUID().uuidString),
            ])
    }

    func attestation(at seconds: TimeInterval = 2) -> TokenDraft {
        draft(instanceKey, type: "", issuer: clientInstanceID, subject: deviceID, at: seconds)
    }

    func assertion(at seconds: TimeInterval = 2) -> TokenDraft {
        var draft = draft(
            possessionKey, type: "JWT", issuer: "urn:okta:devices:app:authenticator", subject: userID, at: seconds)
        draft.claims["methodEnrollmentId"] = .string(methodID)
        return draft
    }

    /// What stands in an `SSWS` header.
    func authorization(with key: SigningKey? = nil, at seconds: TimeInterval = 2) -> TokenDraft {
        let key = key ?? possessionKey
        var draft = draft(key, type: "okta-enrollmentupdate+jwt", issuer: enrollmentID, subject: userID, at: seconds)
        draft.claims["kid"] = key.keyID.map(JSONValue.string)
        return draft
    }

    func answer(
        to target: PushChallenge.Target, with role: PushMethod.KeyRole = .proofOfPossession, consent: String = "APPROVED_CONSENT_PROMPT",
        at seconds: TimeInterval = 2
    ) -> TokenDraft {
        let key = role == .proofOfPossession ? possessionKey : verificationKey
        var draft = draft(key, type: "okta-pushbind+jwt", issuer: enrollmentID, subject: userID, at: seconds)
        draft.claims["tx"] = .string(target.id)
        draft.claims["nonce"] = .string(target.nonce)
        draft.claims["methodEnrollmentId"] = .string(methodID)
        draft.claims["keyType"] = .string(role.rawValue)
        draft.claims["amr"] = []
        draft.claims["deviceSignals"] = ["id": .string(deviceID), "clientInstanceId": .string(clientInstanceID)]
        draft.claims["challengeResponseContext"] = ["userConsent": .string(consent), "transactionType": "LOGIN"]
        return draft
    }
}
