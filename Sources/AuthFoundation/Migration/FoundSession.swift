import Crypto
import Foundation

/// The sessions that one SDK stored.
protocol SessionSource: Sendable {
    /// The name of the SDK, for reports.
    var sdk: String { get }

    /// The settings that decide whether a session is accepted. A skipped session is tried again after they change.
    var settings: [String] { get }

    /// The rule that decides which session becomes the default.
    var mainSession: MainSession { get throws }

    /// Whether two sessions of the same user, issuer and client are one session.
    var hasOneSessionPerUser: Bool { get }

    /// Returns the sessions with their attributes, without reading a secret. Throws ``KeychainError``, such as on a locked device.
    func find() throws -> [FoundSession]

    /// Decodes and checks a session.
    /// - Parameters:
    ///   - value: The stored data.
    ///   - found: The place of the data.
    ///   - now: The time, for the lifetime of a token with an absolute expiry time.
    func decode(_ value: Data, of found: FoundSession, now: Date) throws(Migration.SkipReason) -> ImportableSession
}

/// The session that becomes the default credential if there is no default.
enum MainSession: Equatable {
    /// The first session that is stored, as for a new sign-in.
    case first
    /// The session with this token id, or none if it is not imported.
    case token(id: String)
    /// No session, because the other SDK had no default either.
    case none
}

/// A session that an SDK stored, before its secret is read.
struct FoundSession: Sendable {
    /// The failure of a read.
    enum ReadFailure: Error {
        case gone
        case locked
        case protected
        case failed(KeychainError)

        var keychainError: KeychainError {
            switch self {
            case .gone: .notFound
            case .locked, .protected: .cannotGet(code: KeychainStatus.interactionNotAllowed)
            case .failed(let error): error
            }
        }
    }

    /// The name of the entry, for reports.
    let name: String
    /// The service of a Keychain item; empty for other entries.
    var service = ""
    /// The place, which stays the same when the SDK replaces the session there.
    let place: String
    /// The version, which changes when the SDK stores another session in this place.
    let version: String
    /// The time of the last change; the earliest time if it is unknown.
    var changedAt = Date.distantPast
    /// The protection of the new entry.
    var options = KeychainOptions(Credential.Security.standard)
    /// Whether the attributes say that a read requires the user's authentication.
    var isProtected = false
    /// The access control of the original, if a read shows that it requires the user's authentication.
    var accessControl: KeychainProtection.AccessControl?
    /// Whether iCloud Keychain synchronizes the original.
    var isSynchronized = false
    /// Whether only the app, and apps of its access groups, can have stored the session. Other programs of the user can write the user
    /// defaults, files, and the file-based Keychain of macOS.
    var isAuthentic = false
    /// Reads the data.
    let read: @Sendable (any TokenAuthenticationContext) -> Result<Data, ReadFailure>
    /// Reads a second entry of the session; `nil` if there is none.
    var readCompanion: @Sendable () -> Result<Data?, ReadFailure> = { .success(nil) }
    /// Removes the original.
    let remove: @Sendable () throws -> Void
    /// Whether the original can be removed. An item that iCloud Keychain synchronizes stays, because its removal would sign the user out of
    /// older versions of the app on other devices. An archive that the app passed is the app's own.
    var isRemovable = true

    /// A token id that is the same in each run, for SDKs without token ids.
    var derivedID: String { MigrationHash.text("\(place)\n\(version)", count: 16) }
}

/// A session that passed the checks.
struct ImportableSession: Sendable {
    var token: Token
    var tags: [String: String]
    /// The expiry time of the access token as the other SDK stored it; `nil` if it is unknown.
    var expiresAt: Date?
}

/// Hashes that identify entries and tokens in notes. The hashed values are names, or secrets that cannot be guessed.
enum MigrationHash {
    static func text(_ value: String, count: Int = 32) -> String { text(Data(value.utf8), count: count) }

    static func text(_ value: Data, count: Int = 32) -> String { Data(SHA256.hash(data: value).prefix(count)).base64URLEncoded }
}

// MARK: - Keychain

/// The Keychains in which other SDKs store: none on Linux.
enum DeviceKeychains {
    static var all: [any KeychainAccess] {
        #if os(macOS)
        // okta-mobile-swift stores in the first one, the other SDKs in the second one.
        [SystemKeychain(), SystemKeychain(isFileBased: true)]
        #elseif canImport(Security)
        [SystemKeychain()]
        #else
        []
        #endif
    }
}

extension FoundSession {
    /// Lists Keychain items.
    static func items(_ query: KeychainQuery, in keychains: [any KeychainAccess]) throws -> [FoundSession] {
        try keychains.enumerated().flatMap { number, keychain in
            try records(query, in: keychain).map { FoundSession($0, in: keychain, number: number) }
        }
    }

    static func records(_ query: KeychainQuery, in keychain: any KeychainAccess) throws -> [KeychainRecord] {
        do { return try keychain.items(query) } catch KeychainError.cannotList(KeychainStatus.missingEntitlement) {
            // A command-line program on macOS has only the file-based Keychain.
            return []
        }
    }

    init(_ record: KeychainRecord, in keychain: any KeychainAccess, number: Int) {
        var query = record.query
        query.isSynchronizable = record.isSynchronizable
        (name, service) = (record.account, record.service)
        place = ["keychain \(number)", record.service, record.account, record.accessGroup ?? "", "\(record.isSynchronizable)"]
            .joined(separator: "\n")
        version = record.modifiedAt.map { "\($0.timeIntervalSince1970)" } ?? ""
        changedAt = record.modifiedAt ?? .distantPast
        options = KeychainOptions(
            accessibility: record.protection.accessibility.withoutAlways, accessControl: record.protection.accessControl,
            accessGroup: record.accessGroup)
        options.allowsSynchronization = record.isSynchronizable
        isProtected = record.protection.accessControl != nil
        accessControl = record.protection.accessControl ?? record.accessControlObject
        isSynchronized = record.isSynchronizable
        isAuthentic = keychain.hasAccessGroups && record.accessGroup != nil
        read = { [query] context in keychain.value(query, context: context) }
        remove = { [query] in try keychain.remove(query) }
        isRemovable = !record.isSynchronizable
    }
}

extension KeychainAccess {
    /// Whether items belong to access groups, so that only apps of the group can write them.
    fileprivate var hasAccessGroups: Bool {
        #if os(macOS)
        (self as? SystemKeychain)?.isFileBased != true
        #else
        true
        #endif
    }

    /// Reads the value of an item that was listed before.
    func value(_ query: KeychainQuery, context: any TokenAuthenticationContext) -> Result<Data, FoundSession.ReadFailure> {
        switch read(query, prompt: nil, context: context) {
        case .success(let record): return record.value.map { .success($0) } ?? .failure(.failed(.missingValueData))
        case .failure(let status):
            switch status.code {
            case KeychainStatus.itemNotFound: return .failure(.gone)
            case KeychainStatus.userCanceled, KeychainStatus.authFailed: return .failure(.protected)
            case KeychainStatus.interactionNotAllowed:
                // A locked device causes the same status. Then the item cannot be listed either.
                if case .failure(status) = list(query) { return .failure(.locked) }
                return .failure(.protected)
            default: return .failure(.failed(.cannotGet(code: status.code)))
            }
        }
    }
}

extension [any KeychainAccess] {
    /// Reads an item that needs no authentication of the user; `nil` if there is none.
    func companion(_ query: KeychainQuery) -> Result<Data?, FoundSession.ReadFailure> {
        for keychain in self {
            switch keychain.value(query, context: NoInteraction()) {
            case .success(let data): return .success(data)
            case .failure(.gone), .failure(.failed(.cannotGet(KeychainStatus.missingEntitlement))): continue
            case .failure(let failure): return .failure(failure)
            }
        }
        return .success(nil)
    }
}

extension Keychain.Accessibility {
    /// The accessibility for a new item. Apple has deprecated items that are always readable.
    fileprivate var withoutAlways: Keychain.Accessibility {
        switch self {
        case .always: .afterFirstUnlock
        case .alwaysThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
        default: self
        }
    }
}

// MARK: - Other locations

extension Migration.Location {
    /// Finds the archive: none, one, or one for each access group.
    func find(in keychains: [any KeychainAccess]) throws -> [FoundSession] {
        switch place {
        case .keychain(let account, let service, let accessGroup):
            return try FoundSession.items(
                KeychainQuery(service: service, account: account, accessGroup: accessGroup), in: keychains)
        case .userDefaults(let key, let suite):
            guard let data = UserDefaults(suiteName: suite)?.data(forKey: key) else { return [] }
            return [
                FoundSession(
                    name: key, place: "defaults\n\(suite ?? "")\n\(key)", version: MigrationHash.text(data), options: .unsynchronized,
                    read: { _ in UserDefaults(suiteName: suite)?.data(forKey: key).map { .success($0) } ?? .failure(.gone) },
                    remove: { try DefaultsFailure.check(suite) { $0.removeObject(forKey: key) } })
            ]
        case .data(let data, let name):
            return [
                FoundSession(
                    name: name, place: "data\n\(name)", version: MigrationHash.text(data), options: .unsynchronized,
                    read: { _ in .success(data) }, remove: {}, isRemovable: false)
            ]
        }
    }
}

extension KeychainOptions {
    /// The app's own protection, for an original that had none and was not synchronized.
    static var unsynchronized: KeychainOptions {
        var options = KeychainOptions(Credential.Security.standard)
        options.allowsSynchronization = false
        return options
    }
}
