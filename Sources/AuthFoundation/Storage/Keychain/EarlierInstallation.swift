public import Foundation

/// The treatment of sessions that an earlier installation of the app left in the Keychain. iOS keeps Keychain items when the user deletes an
/// app, so a new installation finds the sessions of the deleted one.
public enum EarlierInstallation: Sendable {
    /// Keeps the sessions. The user stays signed in after a new installation.
    case keep
    /// Removes the sessions at the first use after a new installation.
    ///
    /// The storage creates the file `marker`, which the system deletes with the app. If the file is missing while the Keychain knows an
    /// installation, the app was installed anew. An app and its extensions that share sessions must pass the same file, in the container of
    /// their app group. An app that used an earlier version of this package keeps its sessions.
    case remove(marker: URL)
}

/// Finds out whether the app was installed anew since its sessions were stored.
struct InstallationCheck {
    private static let service = "com.countersign.installation"
    private static let account = "installation"

    let keychain: any KeychainAccess
    let marker: URL
    /// The services of the items that belong to an installation.
    let services: [String]

    /// Removes the items of an earlier installation, and notes the current one. Throws ``KeychainError``, such as before the first unlock of
    /// the device, and errors of the file system. After an error, nothing was removed, or the next call goes on.
    func run() throws {
        let query = KeychainQuery(service: Self.service, account: Self.account)
        let isKnown = try !keychain.items(query).isEmpty
        let isMarked = FileManager.default.fileExists(atPath: marker.path)
        if isKnown, !isMarked { for service in services { try keychain.remove(KeychainQuery(service: service)) } }
        // The file is written before the item: with the item alone, the next start would remove the sessions of this installation.
        if !isMarked { try createMarker() }
        if !isKnown {
            try keychain.save(
                KeychainRecord(
                    service: Self.service, account: Self.account, protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly),
                    value: Data()))
        }
    }

    private func createMarker() throws {
        try FileManager.default.createDirectory(at: marker.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: marker)
        #if canImport(Darwin)
        // A locked device must not hide the file, and a restored backup must not contain it.
        #if !os(macOS)
        try FileManager.default.setAttributes([.protectionKey: FileProtectionType.none], ofItemAtPath: marker.path)
        #endif
        var (file, values) = (marker, URLResourceValues())
        values.isExcludedFromBackup = true
        try file.setResourceValues(values)
        #endif
    }
}
