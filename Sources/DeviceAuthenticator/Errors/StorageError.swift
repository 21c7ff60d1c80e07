internal import AuthFoundation
public import Foundation

/// What went wrong with stored data. Nothing is ever deleted because it could not be read.
public enum StorageError: Error, Equatable, Sendable {
    /// What was asked for is not stored.
    case itemNotFound
    /// The app may not use the container or keychain group that it named.
    case missingAppGroupEntitlement
    /// An entry was written by a newer version; the text names it.
    case storageMigrationError(String)
    /// A database failed. This module uses none; the case is published.
    case sqliteError(String)
    /// Anything else; the text names the entry or file.
    case generalStorageError(String)

    /// What happened and what to do next.
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
    /// The text for people, so that `localizedDescription` has it.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: errorDescription] }
}
