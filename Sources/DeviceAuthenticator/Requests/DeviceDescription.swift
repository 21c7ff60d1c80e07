internal import JOSE

/// The device as requests and answers describe it.
struct DeviceDescription: Sendable {
    let profile: DeviceProfile
    let applicationName: String
    let applicationVersion: String
    let applicationInstallationId: String?

    private var sdkVersion: String { "\(DeviceAuthenticatorConstants.name) \(DeviceAuthenticatorConstants.version)" }

    /// The members of `device` in the body of an enrollment that every device has (the device-authenticator reference 2.5.2).
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

    /// `deviceSignals` of an answer: who the device is, and what of the requested is known (the device-authenticator reference 3.11).
    func signals(requested: [String], record: EnrollmentRecord) -> JSONValue {
        var signals: JSONValue = ["id": .string(record.deviceID), "clientInstanceId": .string(record.clientInstanceID)]
        signals["authenticatorAppKey"] = applicationInstallationId.map(JSONValue.string)
        for name in requested {
            // A challenge can't change who the device says it is.
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
