internal import IdentityCore
internal import JOSE

/// A request to enroll a device, parsed and validated without stored state (Documentation/Protocol/Devices.md §2.5.1 and §2.5.2). Unknown
/// members are ignored.
struct EnrollmentRequest: Sendable {
    /// The app installation that sends the request.
    enum Installation: Sendable {
        /// A new installation, with its instance key.
        case new(DeviceKey)
        /// An enrolled installation, which must prove its identity by an attestation.
        case known(id: String, clientInstanceID: String, attestation: String)
    }

    let authenticatorID: String
    let installation: Installation
    /// The device properties that the app reports, by the names of Documentation/Protocol/Devices.md §2.5.2.
    let profile: [String: String]
    let pushToken: String
    let environment: PushMethod.Environment
    let transactionTypes: [PushMethod.TransactionType]
    let answersNumbers: Bool
    let proofOfPossession: DeviceKey
    let userVerification: DeviceKey?

    /// Reads a body.
    /// - Throws: ``DeviceRefusal``: `E0000003` if the body is not an object, `E0000001` for a missing or invalid member, `E0000011` for a
    ///   known
    ///   device without an attestation.
    init(_ body: JSONValue) throws(DeviceRefusal) {
        guard body.objectValue != nil else { throw .malformed("enrollment is no object") }
        guard let authenticatorID = body["authenticatorId"]?.stringValue else {
            throw .invalid("authenticatorId", ["authenticatorId is missing; take it from the authenticator's configuration."])
        }
        self.authenticatorID = authenticatorID
        let device = try PushMethodFields.object(body["device"], name: "device")
        installation = try Self.installation(device)
        profile = Self.profile(device)
        if case .new = installation {
            for name in Self.required where profile[name] == nil { throw .invalid("device.\(name)", ["device.\(name) is missing."]) }
        }
        let push = try PushMethodFields.object(body["methods"]?["push"], name: "methods.push")
        pushToken = try PushMethodFields.pushToken(push["pushToken"])
        environment = try PushMethodFields.environment(push["apsEnvironment"])
        let capabilities = push["capabilities"]
        transactionTypes = try capabilities?["transactionTypes"].map(PushMethodFields.transactionTypes) ?? [.login]
        answersNumbers = try capabilities?["numberChallenge"].map(PushMethodFields.answersNumbers) ?? false
        let keys = try PushMethodFields.object(push["keys"], name: "methods.push.keys")
        proofOfPossession = try DeviceKey(keys["proofOfPossession"] ?? .null, name: "methods.push.keys.proofOfPossession")
        userVerification = try Self.optionalKey(keys["userVerification"], name: "methods.push.keys.userVerification")
        guard keys["userVerificationBioOrPin"].map(\.isNull) ?? true else {
            throw .invalid("methods.push.keys.userVerificationBioOrPin", ["Keys of this role are not supported; leave it out."])
        }
        let instanceKey: DeviceKey? = if case .new(let key) = installation { key } else { nil }
        try DeviceKey.checkDifferent([instanceKey, proofOfPossession, userVerification])
    }

    static func optionalKey(_ value: JSONValue?, name: String) throws(DeviceRefusal) -> DeviceKey? {
        guard let value, !value.isNull else { return nil }
        return try DeviceKey(value, name: name)
    }

    private static func installation(_ device: [String: JSONValue]) throws(DeviceRefusal) -> Installation {
        guard let id = device["id"] else {
            return .new(try DeviceKey(device["clientInstanceKey"] ?? .null, name: "device.clientInstanceKey"))
        }
        // After this error, an app that lost its instance key registers as a new installation.
        guard let id = id.stringValue, let instance = device["clientInstanceId"]?.stringValue,
            let attestation = device["deviceAttestation"]?["clientInstanceKeyAttestation"]?.stringValue
        else { throw .invalidToken("known device without clientInstanceId or clientInstanceKeyAttestation") }
        return .known(id: id, clientInstanceID: instance, attestation: attestation)
    }

    private static let required = [
        "displayName", "platform", "osVersion", "clientInstanceBundleId", "clientInstanceVersion", "clientInstanceDeviceSdkVersion",
    ]
    private static let told =
        required + [
            "manufacturer", "model", "secureHardwarePresent", "screenLockType", "authenticatorAppKey", "serialNumber", "udid", "sid",
            "imei",
            "meid",
        ]
    /// The maximum length of a property, in Unicode scalars.
    private static let longestText = 200

    /// Reads the device's properties. They are only displayed, so long values are truncated, and values of another type are ignored.
    private static func profile(_ device: [String: JSONValue]) -> [String: String] {
        told.reduce(into: [:]) { profile, name in
            switch device[name] {
            case .string(let text): profile[name] = printable(text)
            case .bool(let flag): profile[name] = String(flag)
            default: break
            }
        }
    }

    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.lazy.filter { $0.properties.generalCategory != .control && $0.properties.generalCategory != .format }
                    .prefix(longestText)))
    }
}
