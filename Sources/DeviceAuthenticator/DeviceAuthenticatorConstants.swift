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
