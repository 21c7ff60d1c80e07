import Crypto
import Foundation

/// A key storage in the Keychain, the default on Apple platforms. Apps create it on Apple's systems only. Safe from any thread and across
/// processes.
///
/// The protection of a private key depends on the device:
/// - With a Secure Enclave, the key never leaves the enclave. The Keychain item contains the key encrypted by the enclave, so that a copy
///   of the item is useless elsewhere.
/// - Simulators, and Macs with neither a T2 chip nor Apple silicon, have no enclave. There the item contains the key itself. The Keychain
///   encrypts the item, and every program that can use the item's access group can read the key.
///
/// Keys are available after the first unlock since startup. Before, every member throws a ``KeychainError`` whose
/// ``KeychainError/isLocked`` is true, and no key is created. Keys never leave the device. After a restore to another device, a key is
/// missing, or it is present and cannot sign. Both are reported as ``DPoPError/Code/keyLost``, and the next sign-in creates a new key.
///
/// An extension that shares a session with the app needs the session's key. Therefore ``KeychainTokenStorage`` copies the key to the access
/// group of each session that is bound to it.
public struct KeychainDPoPKeyStorage: DPoPKeyStorage {
    /// The number of attempts to create a key while other processes create and delete keys.
    private static let maximumTries = 5

    private let keychain: any KeychainAccess
    private let enclave: (any SigningEnclave)?
    private let accessGroup: String?

    #if canImport(Security) && canImport(CryptoKit)
    /// Creates a storage.
    /// - Parameter accessGroup: The Keychain group that the app and its extensions share, or `nil` for the app's own. With a group, a
    ///   sign-in uses only keys of this group. The keys of existing sessions are found in every group of the app.
    public init(accessGroup: String? = nil) {
        self.init(SystemKeychain(), enclave: DeviceEnclave.available, accessGroup: accessGroup)
    }
    #endif

    /// Creates a storage. `enclave` is `nil` on a device without a Secure Enclave.
    package init(_ keychain: any KeychainAccess, enclave: (any SigningEnclave)?, accessGroup: String? = nil) {
        (self.keychain, self.enclave, self.accessGroup) = (keychain, enclave, accessGroup)
    }

    /// Returns the key of a client, or `nil` if there is none.
    /// - Throws: ``KeychainError``; ``DPoPError`` with ``DPoPError/Code/keyLost`` or ``DPoPError/Code/keyUnusable``.
    public func key(named name: String) throws -> DPoPKey? { try firstKey(in: try ownItems(name)) { _ in true } }

    /// Returns the key with this thumbprint, in any access group of the app; `nil` if there is none.
    package func key(named name: String, boundTo thumbprint: String) throws -> DPoPKey? {
        let items = try keychain.dpopKeys(named: name).filter { $0.thumbprint == nil || $0.thumbprint == thumbprint }
        return try firstKey(in: items) { $0.thumbprint == thumbprint }
    }

    /// Returns the key of a client. Creates it if there is none, or if no stored key can sign, such as a key of another device. Of several
    /// processes that create a key at the same time, one stores it and the others use it.
    /// - Throws: ``KeychainError``, and the errors of the Secure Enclave. After an error, all stored keys are unchanged.
    public func keyMakingOne(named name: String) throws -> DPoPKey {
        for _ in 0..<Self.maximumTries {
            let items = try ownItems(name)
            for item in items { if let key = try usableKey(in: item) { return key } }
            let (new, key) = try makeKey(named: name)
            if let unusable = items.first(where: { $0.record.account == name }) {
                guard try replace(unusable, by: new) else { continue }
                // A failure leaves an item that no session can use.
                for other in items where other.record.query != unusable.record.query { _ = keychain.delete(other.unchanged) }
            } else {
                guard try add(new) else { continue }
            }
            return key
        }
        throw KeychainError.cannotSave(code: KeychainStatus.duplicateItem)
    }

    /// Deletes the key of a client from the storage's access group, or from all access groups of the app.
    /// - Throws: ``KeychainError``.
    public func removeKey(named name: String) throws {
        for item in try ownItems(name) { try keychain.remove(item.record.query) }
    }

    // MARK: - Items

    private func ownItems(_ name: String) throws -> [KeychainDPoPKeyItem] {
        try keychain.dpopKeys(named: name).filter { accessGroup == nil || $0.record.accessGroup == accessGroup }
    }

    /// Returns the first key that matches. If there is none, and a key can never be used again, throws the error of that key.
    private func firstKey(in items: [KeychainDPoPKeyItem], where matches: (DPoPKey) -> Bool) throws -> DPoPKey? {
        var loss: DPoPError?
        for item in items {
            do {
                if let key = try openedKey(in: item), matches(key) { return key }
            } catch let error as DPoPError where error.isFinal {
                loss = loss ?? error
            }
        }
        if let loss { throw loss }
        return nil
    }

    /// Returns the key of an item if it can sign; `nil` if the key can never sign again. A restored key of another device can be readable
    /// and unable to sign. Throws errors that can be temporary, because the caller replaces an unusable key.
    private func usableKey(in item: KeychainDPoPKeyItem) throws -> DPoPKey? {
        do {
            guard let key = try openedKey(in: item) else { return nil }
            _ = try key.sign(Self.trial)
            return key
        } catch let error as DPoPError where error.isFinal {
            return nil
        }
    }

    private func openedKey(in item: KeychainDPoPKeyItem) throws -> DPoPKey? {
        guard let value = try keychain.value(of: item) else { return nil }
        let key = try key(item.kind, value)
        if item.thumbprint == nil {
            // Completes an item of an earlier version. A failure leaves the item as it was, and it stays readable.
            let changes = KeychainChanges(generic: KeychainDPoPKeyItem.data(item.kind, key.thumbprint))
            _ = keychain.update(item.unchanged, changes, context: nil)
        }
        return key
    }

    /// Adds a new key. Returns `false` if another process has stored one meanwhile.
    private func add(_ item: KeychainDPoPKeyItem) throws -> Bool {
        switch keychain.add(item.record, context: nil) {
        case KeychainStatus.success: return true
        case KeychainStatus.duplicateItem: return false
        case let status: throw KeychainError.cannotSave(code: status)
        }
    }

    /// Replaces an unusable key. Returns `false` if another process has replaced or deleted it meanwhile.
    private func replace(_ old: KeychainDPoPKeyItem, by new: KeychainDPoPKeyItem) throws -> Bool {
        let changes = KeychainChanges(generic: new.record.generic, value: new.record.value, protection: new.record.protection)
        switch keychain.update(old.unchanged, changes, context: nil) {
        case KeychainStatus.success: return true
        case KeychainStatus.itemNotFound: return false
        case let status: throw KeychainError.cannotSave(code: status)
        }
    }

    // MARK: - Keys

    /// A message whose signature shows that a key works.
    private static let trial = Array("trial".utf8)

    private func makeKey(named name: String) throws -> (item: KeychainDPoPKeyItem, key: DPoPKey) {
        let kind: KeychainDPoPKeyItem.Kind
        let value: Data
        if let enclave {
            (kind, value) = (.enclave, try enclave.makeKey().sealed)
        } else {
            (kind, value) = (.software, P256.Signing.PrivateKey().rawRepresentation)
        }
        let key = try key(kind, value)
        _ = try key.sign(Self.trial)
        return (
            KeychainDPoPKeyItem(name: name, kind: kind, thumbprint: key.thumbprint, accessGroup: accessGroup, value: value), key
        )
    }

    private func key(_ kind: KeychainDPoPKeyItem.Kind, _ value: Data) throws -> DPoPKey {
        switch kind {
        case .enclave:
            guard let enclave else { throw DPoPError.keyLost }
            return try Self.attempt(on: enclave) {
                let key = try enclave.key(from: value)
                return try DPoPKey(point: key.publicPoint) { message in try Self.attempt(on: enclave) { try key.signature(for: message) } }
            }
        case .software:
            do {
                let key = try P256.Signing.PrivateKey(rawRepresentation: value)
                return try DPoPKey(point: Array(key.publicKey.rawRepresentation)) { try Array(key.signature(for: $0).rawRepresentation) }
            } catch {
                throw DPoPError(.keyUnusable, "The stored DPoP key is not a P-256 key. Sign in again.", underlying: error)
            }
        }
    }

    /// Uses a key of the enclave. Apple documents no error codes for a key of another enclave. Therefore a new key tests the enclave after
    /// a failure. If the new key works and the first one fails again, the first one is lost. Otherwise the failure can be temporary.
    private static func attempt<Result>(on enclave: any SigningEnclave, _ use: () throws -> Result) throws -> Result {
        do { return try use() } catch {
            guard (try? enclave.makeKey().signature(for: trial)) != nil else { throw error }
        }
        do { return try use() } catch {
            throw DPoPError(.keyLost, DPoPError.keyLost.message, underlying: error)
        }
    }
}

extension DPoPKey {
    /// Creates a key from the coordinates x and y of its public point, 64 bytes.
    fileprivate init(point: [UInt8], sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) throws {
        try self.init(x: Array(point.prefix(32)), y: Array(point.dropFirst(32)), sign: sign)
    }
}

extension DPoPKeyStorage {
    /// Returns the key with this thumbprint; `nil` if there is none.
    func key(named name: String, boundTo thumbprint: String) throws -> DPoPKey? {
        // An app and its extensions can have several keys in the Keychain.
        if let keychain = self as? KeychainDPoPKeyStorage { return try keychain.key(named: name, boundTo: thumbprint) }
        let key = try key(named: name)
        return key?.thumbprint == thumbprint ? key : nil
    }
}
