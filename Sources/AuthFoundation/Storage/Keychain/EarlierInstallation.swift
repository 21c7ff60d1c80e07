public import Foundation

/// The treatment of sessions that an earlier installation of the app left in the Keychain. iOS keeps Keychain items when the user deletes an
/// app, so a new installation finds the sessions of the deleted one.
public enum EarlierInstallation: Sendable {
    /// Keeps the sessions. The user stays signed in after a new installation.
    case keep
    /// Removes the sessions at the first use after a new installation.
    ///
    /// The storage creates the file `marker`, which the system deletes with the app, and notes the file's content in the Keychain. If both
    /// differ, the app was installed anew, and the sessions that are older than the file are removed. Sessions that iCloud Keychain
    /// synchronizes stay. An app that used an earlier version of this package keeps its sessions.
    ///
    /// - An app and its extensions that share sessions must pass the same file, in the container of their app group. The system deletes this
    ///   container with the last app of the group, so until then the sessions stay.
    /// - An app that shares an access group with another app must name the groups whose sessions are its own. `nil` means all groups that the
    ///   app can use.
    case remove(marker: URL, accessGroups: [String]? = nil)
}

/// Finds out whether the app was installed anew since its sessions were stored.
struct InstallationCheck {
    private static let service = "com.countersign.installation"

    /// The content of the marker.
    private struct Installation: Codable, Equatable {
        let id: String
        let startedAt: Date

        /// The installation of a damaged marker, such as after a power failure. No session is older, so all are kept. The file stays, so that
        /// the next new installation, which lacks it, is still noticed.
        static let damaged = Installation(id: "damaged", startedAt: .distantPast)
    }

    let keychain: any KeychainAccess
    let marker: URL
    /// The access groups whose items belong to the app; `nil` for all.
    let accessGroups: [String]?
    /// The services of the items that belong to an installation.
    let services: [String]
    /// The app or extension, whose note of the installation is its own.
    let program: String
    let clock: any OAuth2Clock
    let randomness: Randomness

    /// Removes the items of an earlier installation, and notes the current one. Throws ``KeychainError``, such as before the first unlock of
    /// the device, and errors of the file system. After an error, the next call removes the rest.
    func run() throws {
        let noted = try keychain.items(KeychainQuery(service: Self.service, account: program)).first?.generic
        let current = try installation()
        guard noted != Data(current.id.utf8) else { return }
        // Without a note, this is the first use of this version. The sessions can be those of an earlier version.
        if noted != nil { try removeItems(before: current.startedAt) }
        try keychain.save(
            KeychainRecord(
                service: Self.service, account: program, protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly),
                generic: Data(current.id.utf8), value: Data()))
    }

    private func removeItems(before start: Date) throws {
        for service in services {
            for item in try keychain.items(KeychainQuery(service: service)) {
                let isOwn = accessGroups.map { groups in item.accessGroup.map(groups.contains) ?? false } ?? true
                guard isOwn, !item.isSynchronizable, let changed = item.modifiedAt, changed < start else { continue }
                try keychain.remove(item.query)
            }
        }
    }

    /// Returns the installation of the marker. Of several processes that start at the same time, one creates the file.
    private func installation() throws -> Installation {
        if let known = try read() { return known }
        try FileManager.default.createDirectory(at: marker.deletingLastPathComponent(), withIntermediateDirectories: true)
        let new = Installation(id: randomness.identifier, startedAt: clock.now)
        // A link either creates the whole file or fails because the file exists. A process that ends leaves no part of it.
        let draft = marker.deletingLastPathComponent().appending(path: "\(marker.lastPathComponent).\(new.id)")
        defer { try? FileManager.default.removeItem(at: draft) }
        try JSONEncoder().encode(new).write(to: draft)
        #if canImport(Darwin) && !os(macOS)
        // A locked device must not hide the file.
        try FileManager.default.setAttributes([.protectionKey: FileProtectionType.none], ofItemAtPath: draft.path)
        #endif
        do {
            try FileManager.default.linkItem(at: draft, to: marker)
        } catch {
            guard let known = try? read() else { throw error }
            return known
        }
        return new
    }

    private func read() throws -> Installation? {
        guard FileManager.default.fileExists(atPath: marker.path) else { return nil }
        let data = try Data(contentsOf: marker)
        return (try? JSONDecoder().decode(Installation.self, from: data)) ?? .damaged
    }
}
