import Foundation

/// A DPoP key as an item of the Keychain.
///
/// The account is the client's name. In an access group that has another key of this client, a dot and the key's thumbprint follow the
/// name. The attribute `generic` is the kind of the key, a space and the thumbprint. Earlier versions wrote the kind alone.
struct KeychainDPoPKeyItem {
    static let service = "com.okta.authfoundation.dpop"

    enum Kind: String {
        /// The value is a private key that the Secure Enclave has encrypted.
        case enclave
        /// The value is a private key.
        case software
    }

    let record: KeychainRecord
    let kind: Kind
    /// The thumbprint; `nil` in an item of an earlier version.
    let thumbprint: String?

    init(_ record: KeychainRecord) {
        self.record = record
        let words = String(decoding: record.generic ?? Data(), as: UTF8.self).split(separator: " ")
        kind = words.first.flatMap { Kind(rawValue: String($0)) } ?? .software
        thumbprint = words.count == 2 ? String(words[1]) : nil
    }

    init(name: String, kind: Kind, thumbprint: String, accessGroup: String?, value: Data) {
        record = KeychainRecord(
            service: Self.service, account: name, accessGroup: accessGroup,
            protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly), generic: Self.data(kind, thumbprint), value: value)
        (self.kind, self.thumbprint) = (kind, thumbprint)
    }

    /// The client's name.
    var name: String { String(record.account.prefix { $0 != "." }) }

    /// The condition that matches the item as it was read. If another process has replaced the item since, the condition matches nothing.
    var unchanged: KeychainQuery {
        var query = record.query
        query.generic = record.generic
        return query
    }

    static func data(_ kind: Kind, _ thumbprint: String) -> Data { Data("\(kind.rawValue) \(thumbprint)".utf8) }
}

extension KeychainAccess {
    /// Returns the DPoP keys of a client, or of all clients, without their values. The oldest comes first, so that a new key of another
    /// process does not change which key a sign-in uses. Throws ``KeychainError``, such as before the first unlock of the device.
    func dpopKeys(named name: String? = nil) throws -> [KeychainDPoPKeyItem] {
        try items(KeychainQuery(service: KeychainDPoPKeyItem.service))
            .sorted { ($0.modifiedAt ?? .distantPast, $0.account) < ($1.modifiedAt ?? .distantPast, $1.account) }
            .map(KeychainDPoPKeyItem.init).filter { name == nil || $0.name == name }
    }

    /// Returns the value of a DPoP key; `nil` if the key was deleted meanwhile. Throws ``KeychainError``.
    func value(of item: KeychainDPoPKeyItem) throws -> Data? {
        switch read(item.record.query, prompt: nil, context: nil) {
        case .success(let record): return record.value ?? Data()
        case .failure(let status) where status.code == KeychainStatus.itemNotFound: return nil
        case .failure(let status): throw KeychainError.cannotGet(code: status.code)
        }
    }

    /// Copies the DPoP key with this thumbprint to an access group, so that every app that can use a session there also has the session's
    /// key. No-op if the group has the key, or if the Keychain does not. Throws ``KeychainError``.
    func shareDPoPKey(_ thumbprint: String, in group: String) throws {
        let keys = try dpopKeys().filter { $0.thumbprint == thumbprint }
        guard !keys.contains(where: { $0.record.accessGroup == group }), let key = keys.first, let value = try value(of: key) else {
            return
        }
        var copy = KeychainDPoPKeyItem(name: key.name, kind: key.kind, thumbprint: thumbprint, accessGroup: group, value: value).record
        var status = add(copy, context: nil)
        if status == KeychainStatus.duplicateItem {
            // The group has another key of this client.
            copy.account = "\(key.name).\(thumbprint)"
            status = add(copy, context: nil)
        }
        // A second duplicate is the same key, which another process has just copied.
        guard status == KeychainStatus.success || status == KeychainStatus.duplicateItem else {
            throw KeychainError.cannotSave(code: status)
        }
    }
}
