import Foundation

/// The exclusive right of a process to refresh a token, as an item of the Keychain that the processes share. A file lock in the container of
/// an app group would be wrong on iOS, which ends an app that is suspended while it holds one. A process that was suspended or ended loses
/// the lease after ``lifetime``.
struct KeychainRefreshLease: RefreshLock {
    static let service = "com.countersign.refresh"
    /// Seconds for which a lease is valid. A refresh takes less, apart from a suspended process.
    static let lifetime: TimeInterval = 45

    /// The content of the item. The owner is random, so that two leases are never equal.
    private struct Content: Codable {
        let owner: String
        let until: Date
    }

    private let keychain: any KeychainAccess
    private let query: KeychainQuery

    /// Takes the lease of a token; `nil` if another process has it. Throws ``KeychainError``.
    static func take(
        _ id: String, accessGroup: String?, in keychain: any KeychainAccess, now: Date, randomness: Randomness
    ) throws -> KeychainRefreshLease? {
        let content = try JSONEncoder().encode(Content(owner: randomness.identifier, until: now.addingTimeInterval(lifetime)))
        let item = KeychainRecord(
            service: service, account: id, accessGroup: accessGroup, protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly),
            generic: content, value: Data())
        let lease = KeychainRefreshLease(
            keychain: keychain, query: KeychainQuery(service: service, account: id, accessGroup: accessGroup, generic: content))
        let status = keychain.add(item, context: nil)
        if status == KeychainStatus.success { return lease }
        guard status == KeychainStatus.duplicateItem else { throw KeychainError.cannotSave(code: status) }
        let all = KeychainQuery(service: service, account: id, accessGroup: accessGroup)
        guard let held = try keychain.items(all).first, isOver(held.generic, at: now) else { return nil }
        // Compares the old lease, so that only one of several processes replaces it.
        var old = all
        old.generic = held.generic
        switch keychain.update(old, KeychainChanges(generic: content), context: nil) {
        case KeychainStatus.success: return lease
        case KeychainStatus.itemNotFound: return nil
        case let other: throw KeychainError.cannotUpdate(code: other)
        }
    }

    /// Whether a lease has ended. A lease that ends too far in the future is of a clock that was set back.
    private static func isOver(_ content: Data?, at now: Date) -> Bool {
        guard let content, let held = try? JSONDecoder().decode(Content.self, from: content) else { return true }
        return held.until <= now || held.until > now.addingTimeInterval(lifetime)
    }

    /// Ends the lease. A lease that another process took over in the meantime stays.
    func release() { _ = keychain.delete(query) }
}

extension KeychainAccess {
    /// Returns the matching items without their values; none if there are none. Throws ``KeychainError``.
    func items(_ query: KeychainQuery) throws -> [KeychainRecord] {
        switch list(query) {
        case .success(let items): return items
        case .failure(let status) where status.code == KeychainStatus.itemNotFound: return []
        case .failure(let status): throw KeychainError.cannotList(code: status.code)
        }
    }

    /// Deletes the matching items. No-op if there are none. Throws ``KeychainError``.
    func remove(_ query: KeychainQuery) throws {
        let status = delete(query)
        guard status == KeychainStatus.success || status == KeychainStatus.itemNotFound else {
            throw KeychainError.cannotDelete(code: status)
        }
    }

    /// Adds an item, or replaces the value, data and protection of the existing item in one step. Throws ``KeychainError``.
    func save(_ item: KeychainRecord, context: (any TokenAuthenticationContext)? = nil) throws {
        var status = add(item, context: context)
        if status == KeychainStatus.duplicateItem {
            let query = KeychainQuery(service: item.service, account: item.account, accessGroup: item.accessGroup)
            let changes = KeychainChanges(generic: item.generic, value: item.value, protection: item.protection)
            status = update(query, changes, context: context)
        }
        guard status == KeychainStatus.success else { throw KeychainError.cannotSave(code: status) }
    }
}
