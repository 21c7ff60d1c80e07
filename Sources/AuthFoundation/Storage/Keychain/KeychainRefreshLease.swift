import Foundation

/// The exclusive right of a process to refresh a token, as an item of the Keychain that the processes share. A file lock in the container of
/// an app group would be wrong on iOS, which ends an app that is suspended while it holds one. A process that was suspended or ended loses
/// the lease after ``lifetime``. It must ``renew()`` the lease before each further request. A token that it has received is
/// stored also after the lease has ended, unless the storage has a later one.
struct KeychainRefreshLease: RefreshLock {
    static let service = "com.countersign.refresh"
    /// Seconds for which a lease is valid. A request takes less, apart from a suspended process.
    static let lifetime: TimeInterval = 45

    /// The content of the item. The owner is random, so that two leases are never equal.
    private struct Content: Codable {
        let owner: String
        let until: Date
    }

    private let keychain: any KeychainAccess
    private let clock: any OAuth2Clock
    private let owner: String
    private let query: KeychainQuery
    /// The content of the item, as this process wrote it last.
    private let content: Locked<Data>

    /// Takes the lease of a token; `nil` if another process has it. Throws ``KeychainError``.
    static func take(
        _ id: String, accessGroup: String?, in keychain: any KeychainAccess, clock: any OAuth2Clock, randomness: Randomness
    ) throws -> KeychainRefreshLease? {
        let owner = randomness.identifier
        let query = KeychainQuery(service: service, account: id, accessGroup: accessGroup)
        func lease(_ content: Data) -> KeychainRefreshLease {
            KeychainRefreshLease(keychain: keychain, clock: clock, owner: owner, query: query, content: Locked(content))
        }
        let first = try Self.content(owner, clock)
        let item = KeychainRecord(
            service: service, account: id, accessGroup: accessGroup, protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly),
            generic: first, value: Data())
        let status = keychain.add(item, context: nil)
        if status == KeychainStatus.success { return lease(first) }
        guard status == KeychainStatus.duplicateItem else { throw KeychainError.cannotSave(code: status) }
        // The clock is read after the list: a lease of another process is never newer.
        guard let held = try keychain.items(query).first, isOver(held.generic, at: clock.now) else { return nil }
        let second = try Self.content(owner, clock)
        return try replace(held.generic, by: second, query, keychain) ? lease(second) : nil
    }

    /// Replaces the content if it is still the old one, so that only one of several processes replaces it. Returns whether it did.
    private static func replace(
        _ old: Data?, by new: Data, _ query: KeychainQuery, _ keychain: any KeychainAccess
    ) throws -> Bool {
        var query = query
        query.generic = old
        switch keychain.update(query, KeychainChanges(generic: new), context: nil) {
        case KeychainStatus.success: return true
        case KeychainStatus.itemNotFound: return false
        case let status: throw KeychainError.cannotUpdate(code: status)
        }
    }

    private static func content(_ owner: String, _ clock: any OAuth2Clock) throws -> Data {
        try JSONEncoder().encode(Content(owner: owner, until: clock.now.addingTimeInterval(lifetime)))
    }

    /// Whether a lease has ended. A lease that ends too far in the future is of a clock that was set back.
    private static func isOver(_ content: Data?, at now: Date) -> Bool {
        guard let content, let held = try? JSONDecoder().decode(Content.self, from: content) else { return true }
        return held.until <= now || held.until > now.addingTimeInterval(lifetime)
    }

    func renew() -> Bool {
        guard let new = try? Self.content(owner, clock) else { return false }
        let old = content.withLock { $0 }
        guard (try? Self.replace(old, by: new, query, keychain)) == true else { return false }
        content.exchange(new)
        return true
    }

    /// Ends the lease. A lease that another process took over in the meantime stays.
    func release() {
        var own = query
        own.generic = content.withLock { $0 }
        _ = keychain.delete(own)
    }
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

    /// Returns the first matching item with its value; `nil` if there is none. Throws ``KeychainError``.
    func item(
        _ query: KeychainQuery, prompt: String? = nil, context: (any TokenAuthenticationContext)? = nil
    ) throws -> KeychainRecord? {
        switch read(query, prompt: prompt, context: context) {
        case .success(let item): return item
        case .failure(let status) where status.code == KeychainStatus.itemNotFound: return nil
        case .failure(let status): throw KeychainError.cannotGet(code: status.code)
        }
    }

    /// Returns the items of a service that never leave the device, without their values. While the device is locked, only the ones that are
    /// readable after the first unlock. Throws ``KeychainError``.
    func itemsOfThisDevice(_ service: String) throws -> [KeychainRecord] {
        func items(_ accessibility: Keychain.Accessibility) throws -> [KeychainRecord] {
            var query = KeychainQuery(service: service)
            query.accessibility = accessibility
            return try self.items(query)
        }
        // One list for each accessibility, because one unreadable item fails a whole list.
        var found = try items(.afterFirstUnlockThisDeviceOnly)
        for accessibility in [Keychain.Accessibility.unlockedThisDeviceOnly, .whenPasswordSetThisDeviceOnly] {
            do { found += try items(accessibility) } catch let error as KeychainError where error.isLocked {}
        }
        return found
    }

    /// Returns the items of a token, or of all tokens, without their values, the latest first. Throws ``KeychainError``.
    func tokenItems(_ id: String? = nil) throws -> [KeychainRecord] {
        let items = try KeychainTokenStorage.Service.places.flatMap { try self.items(KeychainQuery(service: $0, account: id)) }
        return items.sorted { ($0.modifiedAt ?? .distantPast) > ($1.modifiedAt ?? .distantPast) }
    }

    /// Runs a function on the item of a token. If the function returns `nil`, because another process has moved the item to the other place
    /// meanwhile, runs it again. Returns `nil` if there is no item.
    func withTokenItem<Result>(_ id: String, _ body: (KeychainRecord) throws -> Result?) throws -> Result? {
        // A refresh moves an item once, so a few attempts suffice.
        for _ in 0..<5 {
            guard let item = try tokenItems(id).first else { return nil }
            if let result = try body(item) { return result }
        }
        return nil
    }

    /// Deletes the matching items. Returns `false` if there are none. Throws ``KeychainError``.
    @discardableResult
    func remove(_ query: KeychainQuery) throws -> Bool {
        let status = delete(query)
        guard status == KeychainStatus.success || status == KeychainStatus.itemNotFound else {
            throw KeychainError.cannotDelete(code: status)
        }
        return status == KeychainStatus.success
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
