internal import AuthFoundation
internal import Foundation

/// The Keychain item with the key that seals the stored enrollments. The key is available after the first unlock and never leaves the
/// device.
struct KeychainStoreKey: StoreKeySource {
    // The account does not contain the folder's path, because an app update may move the app's container.
    private static let account = "enrollments"
    private static let service = "CountersignDeviceAuthenticator"
    /// The file that names the keychain group of the key.
    static let groupFile = "keychain-group"

    let keychain: any KeychainAccess
    let group: String?

    func key(in folder: VaultFolder) throws -> VaultKey? {
        switch keychain.read(query(group), prompt: nil, context: nil) {
        case .success(let item):
            guard let value = item.value, value.count == 32 else {
                throw StorageError.generalStorageError("The Keychain holds no key for \(folder.path). Delete the folder and enroll again.")
            }
            return try VaultKey(rawValue: value)
        case .failure(let status) where status.code == KeychainStatus.itemNotFound: return nil
        case .failure(let status): throw Self.failure(KeychainError.cannotGet(code: status.code))
        }
    }

    func makeKey(in folder: VaultFolder) throws -> VaultKey {
        let key = VaultKey.generate()
        let item = KeychainRecord(
            service: Self.service, account: Self.account, accessGroup: group,
            protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly), value: key.rawValue)
        switch keychain.add(item, context: nil) {
        case KeychainStatus.success: return key
        case KeychainStatus.duplicateItem:
            // An authenticator with another folder and the same group has created the key meanwhile. Its entries need that key.
            guard let stored = try self.key(in: folder) else { throw StorageError.itemNotFound }
            return stored
        case let status: throw Self.failure(KeychainError.cannotSave(code: status))
        }
    }

    func prepare(_ folder: VaultFolder) throws {
        let name = Data((group ?? "").utf8)
        if try folder.read(Self.groupFile)?.data != name { try folder.write(name, to: Self.groupFile) }
    }

    func complete(_ folder: VaultFolder) throws {
        // A different name stays: the key of some entries can be in a group that this process cannot see.
        if try folder.read(Self.groupFile) == nil { try folder.write(Data((group ?? "").utf8), to: Self.groupFile) }
    }

    /// The key never leaves the device, so a missing key is lost for good, except in two cases:
    /// - The folder names another group, such as that of the app in a folder that an extension with another group shares. The key can be in
    ///   that group, which this process may not be able to see.
    /// - There is a key in another group. It belongs to an earlier configuration of the app, which a later version may restore.
    func isLossFinal(in folder: VaultFolder) throws -> Bool {
        guard try folder.read(Self.groupFile)?.data == Data((group ?? "").utf8) else { return false }
        switch keychain.list(query(nil)) {
        case .success(let items): return items.isEmpty
        case .failure(let status) where status.code == KeychainStatus.itemNotFound: return true
        case .failure(let status): throw Self.failure(KeychainError.cannotList(code: status.code))
        }
    }

    private func query(_ group: String?) -> KeychainQuery {
        KeychainQuery(service: Self.service, account: Self.account, accessGroup: group)
    }

    private static func failure(_ error: KeychainError) -> StorageError {
        switch error {
        case .cannotGet(code: KeychainStatus.missingEntitlement), .cannotSave(code: KeychainStatus.missingEntitlement),
            .cannotList(code: KeychainStatus.missingEntitlement):
            .missingAppGroupEntitlement
        default: StorageError(error)
        }
    }
}
