internal import JOSE

/// The description of the device in requests and answers.
struct DeviceDescription: Sendable {
    let profile: DeviceProfile
    let applicationName: String
    let applicationVersion: String
    let applicationInstallationId: String?

    private var sdkVersion: String { "\(DeviceAuthenticatorConstants.name) \(DeviceAuthenticatorConstants.version)" }

    /// The common members of `device` in the body of an enrollment (the device-authenticator reference 2.5.2).
    var enrollmentMembers: JSONValue {
        var device: JSONValue = [
            "displayName": .string(profile.safeDisplayName), "platform": .string(profile.platform),
            "manufacturer": .string(profile.manufacturer), "model": .string(profile.model), "osVersion": .string(profile.osVersion),
            "secureHardwarePresent": .bool(profile.secureHardwarePresent), "screenLockType": .string(profile.screenLockType.rawValue),
            "clientInstanceBundleId": .string(applicationName), "clientInstanceVersion": .string(applicationVersion),
            "clientInstanceDeviceSdkVersion": .string(sdkVersion),
        ]
        device["authenticatorAppKey"] = applicationInstallationId.map(JSONValue.string)
        device["serialNumber"] = profile.serialNumber.map(JSONValue.string)
        device["udid"] = profile.udid.map(JSONValue.string)
        return device
    }

    /// Returns `deviceSignals` of an answer: the device's ids, and the requested signals that are known (the device-authenticator reference
    /// 3.11).
    func signals(requested: [String], record: EnrollmentRecord) -> JSONValue {
        var signals: JSONValue = ["id": .string(record.deviceID), "clientInstanceId": .string(record.clientInstanceID)]
        signals["authenticatorAppKey"] = applicationInstallationId.map(JSONValue.string)
        for name in requested {
            // A challenge must not change the device's ids.
            if signals[name] == nil, let value = signal(name) { signals[name] = value }
        }
        return signals
    }

    private func signal(_ name: String) -> JSONValue? {
        switch name {
        case "displayName": .string(profile.safeDisplayName)
        case "platform": .string(profile.platform)
        case "manufacturer": .string(profile.manufacturer)
        case "model": .string(profile.model)
        case "osVersion": .string(profile.osVersion)
        case "serialNumber": profile.serialNumber.map(JSONValue.string)
        case "udid": profile.udid.map(JSONValue.string)
        case "secureHardwarePresent": .bool(profile.secureHardwarePresent)
        case "diskEncryptionType": profile.diskEncryptionType.map(JSONValue.string)
        case "screenLockType": .string(profile.screenLockType.rawValue)
        case "clientInstanceBundleId": .string(applicationName)
        case "clientInstanceDeviceSdkVersion": .string(sdkVersion)
        case "clientInstanceVersion": .string(applicationVersion)
        default: nil
        }
    }
}
