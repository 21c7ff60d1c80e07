#if canImport(Security)
internal import AuthFoundation
internal import Foundation
internal import Security

/// The Keychain item with the key that seals the stored enrollments. The key is available after the first unlock and never leaves the
/// device.
struct KeychainStoreKey: StoreKeySource {
    // The account does not contain the folder's path, because an app update may move the app's container.
    private static let account = "enrollments"
    private static let service = "CountersignDeviceAuthenticator"

    let group: String?

    func key(in folder: VaultFolder) throws -> VaultKey? {
        do {
            let item = try Keychain.Search(account: Self.account, service: Self.service, accessGroup: group).get()
            guard item.value.count == 32 else {
                throw StorageError.generalStorageError("The Keychain holds no key for \(folder.path). Delete the folder and enroll again.")
            }
            return try VaultKey(rawValue: item.value)
        } catch KeychainError.notFound {
            return nil
        } catch KeychainError.cannotGet(code: errSecMissingEntitlement) {
            throw StorageError.missingAppGroupEntitlement
        }
    }

    func makeKey(in folder: VaultFolder) throws -> VaultKey {
        let key = VaultKey.generate()
        let item = Keychain.Item(
            account: Self.account, service: Self.service, accessibility: .afterFirstUnlockThisDeviceOnly, accessGroup: group,
            value: key.rawValue)
        do {
            try item.save()
        } catch KeychainError.cannotSave(code: errSecMissingEntitlement) {
            throw StorageError.missingAppGroupEntitlement
        }
        return key
    }
}
#endif
