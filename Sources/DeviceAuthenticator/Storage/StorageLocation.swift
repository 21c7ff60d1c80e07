internal import AuthFoundation
internal import Foundation

/// Where an authenticator stores unless the app names a folder.
enum StorageLocation {
    /// The folder of a group: on Apple's systems in the app group's container, elsewhere `countersign/devices/<group>` in
    /// `$XDG_DATA_HOME`, else in `~/.local/share`.
    static func folder(group: String) throws -> URL {
        #if canImport(Darwin)
        if let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) {
            return container.appendingPathComponent(DeviceAuthenticatorConstants.defaultStorageRelativeDirectoryPath, isDirectory: true)
        }
        throw StorageError.missingAppGroupEntitlement
        #else
        return try folder(group: group, environment: ProcessInfo.processInfo.environment, home: UserFolders.home)
        #endif
    }

    static func folder(group: String, environment: [String: String], home: String) throws -> URL {
        guard isFileName(group) else {
            throw StorageError.generalStorageError(
                "The applicationGroupId \"\(group)\" names a folder here, so it is made of letters, digits, dots, hyphens and underscores and does not begin with a dot. Choose another one, or name a folder with storageDirectory(_:)."
            )
        }
        return UserFolders.data(environment: environment, home: home).appendingPathComponent(
            "countersign/devices/\(group)", isDirectory: true)
    }

    private static func isFileName(_ name: String) -> Bool {
        guard (1...200).contains(name.utf8.count), !name.hasPrefix(".") else { return false }
        return name.utf8.allSatisfy { byte in
            (65...90).contains(byte) || (97...122).contains(byte) || (48...57).contains(byte) || "-._".utf8.contains(byte)
        }
    }
}
