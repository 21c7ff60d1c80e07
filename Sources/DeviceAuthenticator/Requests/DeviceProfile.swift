internal import AuthFoundation
internal import Foundation
internal import JOSE

#if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
internal import LocalAuthentication
#endif

/// The description of the device for the server. The server receives it at enrollment, and with the answer to a challenge that asks for it.
public struct DeviceProfile: Sendable, Equatable {
    /// A kind of screen lock.
    public enum ScreenLock: String, Sendable {
        /// No lock.
        case none = "NONE"
        /// A PIN or passcode.
        case passcode = "PASSCODE"
        /// Biometrics.
        case biometric = "BIOMETRIC"
    }

    /// The name that the user and the administrator see. Since iOS 16 the system provides a generic name such as "iPhone", unless the app
    /// has the entitlement `com.apple.developer.device-information.user-assigned-device-name`.
    public var displayName: String
    /// `IOS` or `MACOS`; elsewhere the system's own name such as `LINUX`, which Okta's servers do not know.
    public var platform: String
    /// The manufacturer of the device.
    public var manufacturer: String
    /// The model, such as `iPhone15,3`; the processor's architecture if the model is unknown.
    public var model: String
    /// The system's version as `major.minor.patch`.
    public var osVersion: String
    /// Whether the device has hardware that can hold keys.
    public var secureHardwarePresent: Bool
    /// The screen lock of the device.
    public var screenLockType: ScreenLock
    /// `FULL`, `NONE`, `USER`, `ALL_INTERNAL_VOLUMES` or `SYSTEM_VOLUME`; `nil` if unknown.
    public var diskEncryptionType: String?
    /// The serial number; `nil` if the app has no access to it.
    public var serialNumber: String?
    /// The device's UDID; `nil` if the app has no access to it.
    public var udid: String?

    /// Creates a description. The parameters are documented at the properties.
    public init(
        displayName: String, platform: String, manufacturer: String, model: String, osVersion: String, secureHardwarePresent: Bool = false,
        screenLockType: ScreenLock = .none
    ) {
        self.displayName = displayName
        self.platform = platform
        self.manufacturer = manufacturer
        self.model = model
        self.osVersion = osVersion
        self.secureHardwarePresent = secureHardwarePresent
        self.screenLockType = screenLockType
    }

    /// The device on which the program runs.
    public static var current: DeviceProfile {
        var profile = DeviceProfile(
            displayName: hostName, platform: SystemName.platform, manufacturer: SystemName.manufacturer, model: machine,
            osVersion: SDKVersion.systemVersion)
        #if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
        let context = LAContext()
        if context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil) {
            profile.screenLockType = .biometric
        } else if context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil) {
            profile.screenLockType = .passcode
        }
        #endif
        #if os(iOS)
        profile.diskEncryptionType = profile.screenLockType == .none ? "NONE" : "FULL"
        #endif
        return profile
    }

    /// The host name. `ProcessInfo.hostName` is not used, because it may send network requests. Phones have no host name of their own.
    private static var hostName: String {
        #if os(iOS)
        return machine.hasPrefix("iPad") ? "iPad" : "iPhone"
        #else
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "Device" }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return name.isEmpty ? "Device" : name
        #endif
    }

    private static var machine: String {
        var system = utsname()
        guard uname(&system) == 0 else { return "unknown" }
        return withUnsafeBytes(of: &system.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    var safeDisplayName: String { displayName.replacing(/<[^>]*>/, with: "") }
}

/// Names of systems in the protocol.
enum SystemName {
    static let platform = SDKVersion.systemName.uppercased()
    #if canImport(Darwin)
    static let manufacturer = "APPLE"
    #else
    static let manufacturer = "UNKNOWN"
    #endif

    /// Returns the user agent `{bundle}/{version} DeviceAuthenticator/{version} {system}/{version} {maker}/{model}`
    /// (Documentation/Protocol/Devices.md §2.1).
    static func userAgent(application: ApplicationConfig, profile: DeviceProfile) -> String {
        let bundle = Bundle.main.bundleIdentifier ?? application.applicationName
        let version = Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String ?? application.applicationVersion
        let maker = manufacturer == "APPLE" ? "Apple" : "Unknown"
        return [
            "\(token(bundle))/\(token(version))", "\(DeviceAuthenticatorConstants.name)/\(DeviceAuthenticatorConstants.version)",
            "\(SDKVersion.systemName)/\(token(profile.osVersion))", "\(maker)/\(token(profile.model))",
        ].joined(separator: " ")
    }

    /// Removes characters that are not allowed in a header token (RFC 9110, section 5.6.2).
    private static func token(_ text: String) -> String {
        let token = text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "!#$%&'*+-.^_`|~,".contains($0)) }
        return token.isEmpty ? "unknown" : token
    }
}

/// The description of the device in requests and answers.
struct DeviceDescription: Sendable {
    let profile: DeviceProfile
    let applicationName: String
    let applicationVersion: String
    let applicationInstallationId: String?

    private var sdkVersion: String { "\(DeviceAuthenticatorConstants.name) \(DeviceAuthenticatorConstants.version)" }

    /// The common members of `device` in the body of an enrollment (Documentation/Protocol/Devices.md §2.5.2).
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

    /// Returns `deviceSignals` of an answer: the device's ids, and the requested signals that are known (Documentation/Protocol/Devices.md
    /// §3.11).
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
