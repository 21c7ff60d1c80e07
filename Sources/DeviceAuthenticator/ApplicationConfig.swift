internal import AuthFoundation

/// What the app says of itself.
///
/// Safe from any thread. What is changed after ``DeviceAuthenticatorBuilder/create()`` has no effect on what was created.
public final class ApplicationConfig: Sendable {
    /// How pushes reach the app, and the titles of their actions.
    public struct PushSettings: Sendable {
        /// The environment of the push service.
        public enum APSEnvironment: Sendable {
            /// For builds that run from Xcode.
            case development
            /// For everything else.
            case production
        }

        /// The environment of the push service; `production` unless set.
        public var apsEnvironment: APSEnvironment = .production
        /// The title of the action that approves. The category `OKTA_PUSH_CHALLENGE` is registered if this and ``denyActionTitle`` are set.
        public var approveActionTitle: String?
        /// The title of the action that denies.
        public var denyActionTitle: String?
        /// The title of the action that opens the app to verify the person. The category `OKTA_PUSH_UV_CHALLENGE` is registered if set.
        public var userVerificationActionTitle: String?
    }

    private let settings: Locked<PushSettings>
    let applicationName: String
    let applicationVersion: String
    let applicationGroupId: String
    let keychainGroupId: String
    let applicationInstallationId: String?

    /// What the app says of itself.
    ///
    /// - Parameters:
    ///   - applicationName: The app's name, as the server shows it.
    ///   - applicationVersion: The app's version.
    ///   - applicationGroupId: What the app and its extensions share: on Apple's systems an app group, elsewhere the name of a folder
    ///     `countersign/devices/<applicationGroupId>` in the user's data folder (`$XDG_DATA_HOME` or `~/.local/share`).
    ///   - keychainGroupId: The keychain group of the keys; `applicationGroupId` if nil. Of no meaning off Apple's systems.
    ///   - applicationInstallationId: An id of this installation, sent as `authenticatorAppKey`.
    public init(
        applicationName: String, applicationVersion: String, applicationGroupId: String, keychainGroupId: String? = nil,
        applicationInstallationId: String? = nil
    ) {
        settings = Locked(PushSettings())
        self.applicationName = applicationName
        self.applicationVersion = applicationVersion
        self.applicationGroupId = applicationGroupId
        self.keychainGroupId = keychainGroupId ?? applicationGroupId
        self.applicationInstallationId = applicationInstallationId
    }

    /// How pushes reach the app, and the titles of their actions.
    public var pushSettings: PushSettings {
        get { settings.withLock { $0 } }
        set { settings.withLock { $0 = newValue } }
    }
}

/// The spelling of the older documentation.
extension ApplicationConfig {
    /// The same as ``PushSettings/apsEnvironment-swift.property``.
    public var apsEnvironment: PushSettings.APSEnvironment {
        get { pushSettings.apsEnvironment }
        set { pushSettings.apsEnvironment = newValue }
    }

    /// The same as ``PushSettings/approveActionTitle``.
    public var approveActionTitle: String? {
        get { pushSettings.approveActionTitle }
        set { pushSettings.approveActionTitle = newValue }
    }

    /// The same as ``PushSettings/denyActionTitle``.
    public var denyActionTitle: String? {
        get { pushSettings.denyActionTitle }
        set { pushSettings.denyActionTitle = newValue }
    }

    /// The same as ``PushSettings/userVerificationActionTitle``.
    public var userVerificationActionTitle: String? {
        get { pushSettings.userVerificationActionTitle }
        set { pushSettings.userVerificationActionTitle = newValue }
    }
}

/// Names and numbers of the module.
public struct DeviceAuthenticatorConstants: Sendable {
    /// The version of the protocol's client that this module stands for, as requests name it.
    public static let version: String = "1.1.0"
    /// The name that requests carry.
    public static let name: String = "DeviceAuthenticator"
    /// Where data lies in an app group's container.
    public static let defaultStorageRelativeDirectoryPath: String = "Library/DeviceSDK/SQLite"
    /// The published name of a database. This module keeps files of its own.
    public static let defaultStorageName: String = "db"
}
