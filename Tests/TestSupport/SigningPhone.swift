public import Foundation
public import JOSE

/// An app installation with real keys, as the official client makes them, and what it sends and signs with them
/// (Documentation/Protocol/Devices.md §2.5 and §3).
public struct SigningPhone: Sendable {
    /// Which of its keys signs an answer.
    public enum Key: String, Sendable { case proofOfPossession, userVerification }

    /// The person whose phone it is; empty until it is enrolled.
    public var userID: String
    /// Proves that it is the same installation.
    public var instanceKey: SigningKey
    /// Signs by itself.
    public var possessionKey: SigningKey
    /// Signs once the person has unlocked it.
    public var verificationKey: SigningKey
    /// What the server called the enrolment; empty before.
    public var enrollmentID = ""
    /// What the server called the method.
    public var methodID = ""
    /// What the server called the device.
    public var deviceID = ""
    /// What the server called the installation; empty if it did not say.
    public var clientInstanceID = ""

    /// What the person calls the device.
    public var displayName = "Ada's phone"

    private let origin: String

    /// Makes an installation.
    ///
    /// - Parameters:
    ///   - userID: The person, if they are known.
    ///   - origin: The organization's, the audience of what is signed.
    /// - Throws: If a key cannot be made.
    public init(userID: String = "", origin: String) throws {
        self.userID = userID
        self.origin = origin
        instanceKey = try .generate(.es256, keyID: UUID().uuidString)
        possessionKey = try .generate(.es256, keyID: UUID().uuidString)
        verificationKey = try .generate(.es256, keyID: UUID().uuidString)
    }

    /// The same installation, about to enrol another person or anew: keys of its own, the device as before.
    ///
    /// - Parameter userID: The other person; nil for the same one.
    /// - Returns: It.
    /// - Throws: If a key cannot be made.
    public func again(for userID: String? = nil) throws -> SigningPhone {
        var phone = try SigningPhone(userID: userID ?? self.userID, origin: origin)
        phone.instanceKey = instanceKey
        phone.deviceID = deviceID
        phone.clientInstanceID = clientInstanceID
        return phone
    }

    /// Takes what an enrolment answered.
    ///
    /// - Parameter answer: The body.
    /// - Throws: ``Unreadable`` if it lacks something.
    public mutating func remember(_ answer: JSONValue) throws {
        func text(_ path: String...) throws -> String {
            guard let text = path.reduce(answer, { $0[$1] ?? .null }).stringValue else {
                throw Unreadable(description: "\(path.joined(separator: ".")) in \(answer.serializedString)")
            }
            return text
        }
        enrollmentID = try text("id")
        userID = try text("user", "id")
        methodID = try text("methods", "push", "id")
        deviceID = try text("device", "id")
        clientInstanceID = try text("device", "clientInstanceId")
    }

    /// An answer that is no enrolment.
    public struct Unreadable: Error, CustomStringConvertible {
        /// What is not there.
        public let description: String
    }

    // MARK: - Bodies

    /// A key as a phone registers it.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - protection: Where it says to keep it.
    /// - Returns: The public part.
    public static func jwk(_ key: SigningKey, protection: String = "HARDWARE") -> JSONValue {
        var json = key.publicKey?.json() ?? .null
        json["alg"] = nil
        json["use"] = nil
        json["okta:kpr"] = .string(protection)
        json["okta:isFipsCompliant"] = true
        return json
    }

    private static let device: JSONValue = [
        "platform": "IOS", "manufacturer": "APPLE", "model": "iPhone15,3", "osVersion": "17.4.0",
        "secureHardwarePresent": true, "screenLockType": "BIOMETRIC", "clientInstanceBundleId": "AcmeApp", "clientInstanceVersion": "3.0",
        "clientInstanceDeviceSdkVersion": "DeviceAuthenticator 1.1.0", "authenticatorAppKey": "0C1E", "somethingNew": ["x": 1],
    ]

    /// The body of an enrolment (Documentation/Protocol/Devices.md §2.5.2); of a known device with an attestation.
    ///
    /// - Parameters:
    ///   - authenticator: The authenticator's id.
    ///   - userVerification: Whether the key that the person unlocks is registered too.
    ///   - attestation: What the installation signed to show that it is the same one; nil for a new device.
    ///   - push: Members of the method that are other than the usual ones.
    /// - Returns: The body.
    public func enrollment(
        in authenticator: String, userVerification: Bool = false, attestation: String? = nil, push: [String: JSONValue] = [:]
    ) -> JSONValue {
        var device = Self.device
        device["displayName"] = .string(displayName)
        if let attestation {
            device["id"] = .string(deviceID)
            device["clientInstanceId"] = .string(clientInstanceID)
            device["deviceAttestation"] = ["clientInstanceKeyAttestation": .string(attestation)]
        } else {
            device["clientInstanceKey"] = Self.jwk(instanceKey)
        }
        var keys: JSONValue = ["proofOfPossession": Self.jwk(possessionKey)]
        if userVerification { keys["userVerification"] = Self.jwk(verificationKey) }
        let usual: [String: JSONValue] = [
            "pushToken": "00ff12", "apsEnvironment": "development", "capabilities": ["transactionTypes": ["LOGIN"]], "keys": keys,
        ]
        return [
            "authenticatorId": .string(authenticator), "device": device,
            "methods": ["push": .object(usual.merging(push) { $1 })],
        ]
    }

    // MARK: - Signed

    private func draft(
        _ key: SigningKey, type: String, issuer: String, audience: String? = nil, subject: String, at time: Date
    ) -> TokenDraft {
        let issuedAt = Int64(time.timeIntervalSince1970)
        return TokenDraft(
            key: key, header: ["typ": .string(type)],
            claims: [
                "iss": .string(issuer), "aud": .string(audience ?? origin), "sub": .string(subject), "iat": .integer(issuedAt),
                "exp": .integer(issuedAt + 300), "nbf": .integer(issuedAt - 300), "jti": .string(UUID().uuidString),
            ])
    }

    /// What shows that the device is one that the server knows.
    ///
    /// - Parameter time: Now.
    /// - Returns: The token to sign.
    public func attestation(at time: Date) -> TokenDraft {
        draft(instanceKey, type: "", issuer: clientInstanceID, subject: deviceID, at: time)
    }

    /// The assertion for a maintenance token.
    ///
    /// - Parameter time: Now.
    /// - Returns: The token to sign.
    public func assertion(at time: Date) -> TokenDraft {
        draft(possessionKey, type: "JWT", issuer: "urn:okta:devices:app:authenticator", subject: userID, at: time)
            .with("methodEnrollmentId", .string(methodID))
    }

    /// What stands in an `SSWS` header.
    ///
    /// - Parameters:
    ///   - key: The key that signs; nil for the one that signs by itself.
    ///   - time: Now.
    /// - Returns: The token to sign.
    public func authorization(with key: SigningKey? = nil, at time: Date) -> TokenDraft {
        let key = key ?? possessionKey
        return draft(key, type: "okta-enrollmentupdate+jwt", issuer: enrollmentID, subject: userID, at: time)
            .with("kid", key.keyID.map(JSONValue.string))
    }

    /// An answer to a challenge (Documentation/Protocol/Devices.md §3.7).
    ///
    /// - Parameters:
    ///   - transaction: The challenge's `transactionId`.
    ///   - nonce: Its nonce.
    ///   - audience: Who sent it; nil for the organization.
    ///   - key: The key that signs.
    ///   - methods: How the person was recognised (`amr`).
    ///   - context: What the person said.
    ///   - time: Now.
    /// - Returns: The token to sign.
    public func answer(
        to transaction: String, nonce: String, audience: String? = nil, with key: Key = .proofOfPossession, methods: [String] = [],
        context: [String: JSONValue], at time: Date
    ) -> TokenDraft {
        draft(
            key == .proofOfPossession ? possessionKey : verificationKey, type: "okta-pushbind+jwt", issuer: enrollmentID,
            audience: audience, subject: userID, at: time
        )
        .with("tx", .string(transaction)).with("nonce", .string(nonce)).with("methodEnrollmentId", .string(methodID))
        .with("keyType", .string(key.rawValue)).with("amr", JSONValue(methods))
        .with("deviceSignals", ["id": .string(deviceID), "clientInstanceId": .string(clientInstanceID)])
        .with("challengeResponseContext", .object(context)).with("integrations", []).with("signalProviders", [])
    }
}
