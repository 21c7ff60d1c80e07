internal import AuthFoundation
public import Foundation

/// An error of stored data. Unreadable data is never deleted for that reason.
public enum StorageError: Error, Equatable, Sendable {
    /// The item is not stored.
    case itemNotFound
    /// The app has no access to the container or keychain group that it named.
    case missingAppGroupEntitlement
    /// A newer version wrote an entry; the text names it.
    case storageMigrationError(String)
    /// A database failed. This module does not use one; the case exists for compatibility with Okta's SDK.
    case sqliteError(String)
    /// Any other failure; the text names the entry or file.
    case generalStorageError(String)

    /// The problem and the next step for the user.
    public var errorDescription: String {
        switch self {
        case .itemNotFound: "What was asked for is not stored on this device. Enroll again."
        case .missingAppGroupEntitlement:
            "The app may not use the group that its ApplicationConfig names. Add the group to the app's entitlements, or name another one."
        case .storageMigrationError(let text), .sqliteError(let text), .generalStorageError(let text): text
        }
    }

    init(_ error: any Error) {
        self =
            switch error {
            case let error as StorageError: error
            case let error as VaultError where error.code == .newerFormat: .storageMigrationError(error.message)
            case let error as VaultError: .generalStorageError(error.message)
            default: .generalStorageError(error.localizedDescription)
            }
    }
}

extension StorageError: CustomNSError {
    /// The localized description.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: errorDescription] }
}
