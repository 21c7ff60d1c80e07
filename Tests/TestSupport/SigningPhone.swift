public import Foundation
public import JOSE

/// An app installation with real keys like those of the official client, which creates request bodies and tokens to sign
/// (Documentation/Protocol/Devices.md §2.5 and §3).
public struct SigningPhone: Sendable {
    /// The key that signs an answer.
    public enum Key: String, Sendable { case proofOfPossession, userVerification }

    /// The ID of the phone's user; empty before the enrollment.
    public var userID: String
    /// The key that identifies the installation.
    public var instanceKey: SigningKey
    /// The proof-of-possession key, which signs without the user.
    public var possessionKey: SigningKey
    /// The user verification key, which signs after the user has unlocked it.
    public var verificationKey: SigningKey
    /// The server's ID of the enrollment; empty before the enrollment.
    public var enrollmentID = ""
    /// The server's ID of the push method; empty before the enrollment.
    public var methodID = ""
    /// The server's ID of the device; empty before the enrollment.
    public var deviceID = ""
    /// The server's ID of the installation; empty before the enrollment.
    public var clientInstanceID = ""

    /// The user's name for the device.
    public var displayName = "Ada's phone"

    private let origin: String

    /// Generates the keys of an installation.
    ///
    /// - Parameters:
    ///   - userID: The user; empty if unknown.
    ///   - origin: The organization's origin, which is the audience of signed tokens.
    public init(userID: String = "", origin: String) throws {
        self.userID = userID
        self.origin = origin
        instanceKey = try .generate(.es256, keyID: UUID().uuidString)
        possessionKey = try .generate(.es256, keyID: UUID().uuidString)
        verificationKey = try .generate(.es256, keyID: UUID().uuidString)
    }

    /// Returns the same installation on the same device with new keys, for another enrollment.
    ///
    /// - Parameter userID: The user of the new enrollment; nil for the same user.
    public func again(for userID: String? = nil) throws -> SigningPhone {
        var phone = try SigningPhone(userID: userID ?? self.userID, origin: origin)
        phone.instanceKey = instanceKey
        phone.deviceID = deviceID
        phone.clientInstanceID = clientInstanceID
        return phone
    }

    /// Stores the IDs of an enrollment response.
    ///
    /// - Throws: ``Unreadable`` if the body lacks an ID.
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

    /// An error: a response lacks a member of an enrollment.
    public struct Unreadable: Error, CustomStringConvertible {
        /// The missing member and the response.
        public let description: String
    }

    // MARK: - Bodies

    /// Returns the public key as a phone registers it.
    ///
    /// - Parameter protection: The key protection that the phone claims.
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

    /// Returns the body of an enrollment (Documentation/Protocol/Devices.md §2.5.2).
    ///
    /// - Parameters:
    ///   - authenticator: The authenticator's ID.
    ///   - userVerification: Whether the body also registers the user verification key.
    ///   - attestation: The signed attestation of a known device; nil for a new device.
    ///   - push: Members of the push method to change.
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

    // MARK: - Signed tokens

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

    /// Returns the attestation of a device that the server knows.
    public func attestation(at time: Date) -> TokenDraft {
        draft(instanceKey, type: "", issuer: clientInstanceID, subject: deviceID, at: time)
    }

    /// Returns the assertion for a maintenance token.
    public func assertion(at time: Date) -> TokenDraft {
        draft(possessionKey, type: "JWT", issuer: "urn:okta:devices:app:authenticator", subject: userID, at: time)
            .with("methodEnrollmentId", .string(methodID))
    }

    /// Returns the token for an `SSWS` authorization header.
    ///
    /// - Parameter key: The signing key; nil for the proof-of-possession key.
    public func authorization(with key: SigningKey? = nil, at time: Date) -> TokenDraft {
        let key = key ?? possessionKey
        return draft(key, type: "okta-enrollmentupdate+jwt", issuer: enrollmentID, subject: userID, at: time)
            .with("kid", key.keyID.map(JSONValue.string))
    }

    /// Returns the answer to a challenge (Documentation/Protocol/Devices.md §3.7).
    ///
    /// - Parameters:
    ///   - transaction: The challenge's `transactionId`.
    ///   - nonce: The challenge's nonce.
    ///   - audience: The issuer of the challenge; nil for the organization.
    ///   - key: The signing key.
    ///   - methods: The methods of user verification (`amr`).
    ///   - context: The user's answer.
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
