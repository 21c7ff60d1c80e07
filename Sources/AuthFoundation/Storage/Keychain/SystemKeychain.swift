#if canImport(Security)
package import Foundation
import Security

/// The Keychain of the device.
package struct SystemKeychain: KeychainAccess {
    #if os(macOS)
    /// Whether this is the file-based Keychain of macOS, in which other SDKs store. It has no access groups and is not synchronized.
    var isFileBased = false
    #endif

    /// The description of items with access control. Every item has an access control object, so the object does not tell.
    private static let protectedKind = "protected token"

    package init() {}

    #if os(macOS)
    init(isFileBased: Bool) { self.isFileBased = isFileBased }
    #endif

    package func add(_ item: KeychainRecord, context: (any TokenAuthenticationContext)?) -> OSStatus {
        do {
            var attributes = try Self.item(item).attributes
            attributes[kSecUseAuthenticationContext as String] = Self.authentication(context)
            return SecItemAdd(attributes as CFDictionary, nil)
        } catch {
            return error.code
        }
    }

    package func list(_ query: KeychainQuery) -> Result<[KeychainRecord], KeychainStatus> {
        var attributes = attributes(query)
        attributes[kSecMatchLimit as String] = kSecMatchLimitAll
        attributes[kSecReturnAttributes as String] = true
        var found: CFTypeRef?
        let status = SecItemCopyMatching(attributes as CFDictionary, &found)
        guard status == errSecSuccess else { return .failure(KeychainStatus(status)) }
        guard let items = found as? [[String: Any]] else { return .failure(KeychainStatus(errSecDecode)) }
        return .success(items.compactMap(Self.record))
    }

    package func read(
        _ query: KeychainQuery, prompt: String?, context: (any TokenAuthenticationContext)?
    ) -> Result<KeychainRecord, KeychainStatus> {
        var attributes = attributes(query)
        attributes[kSecMatchLimit as String] = kSecMatchLimitOne
        attributes[kSecReturnAttributes as String] = true
        attributes[kSecReturnData as String] = true
        attributes[kSecUseAuthenticationContext as String] = Self.authentication(context, prompt: prompt)
        var found: CFTypeRef?
        let status = SecItemCopyMatching(attributes as CFDictionary, &found)
        guard status == errSecSuccess else { return .failure(KeychainStatus(status)) }
        guard let item = (found as? [String: Any]).flatMap(Self.record) else { return .failure(KeychainStatus(errSecDecode)) }
        return .success(item)
    }

    package func update(_ query: KeychainQuery, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)?) -> OSStatus {
        var attributes = attributes(query)
        attributes[kSecUseAuthenticationContext as String] = Self.authentication(context)
        var values: [String: Any] = [:]
        values[kSecValueData as String] = changes.value
        values[kSecAttrGeneric as String] = changes.generic
        do {
            if let control = try changes.protection.flatMap(Self.accessControl) {
                values[kSecAttrAccessControl as String] = control
                values[kSecAttrDescription as String] = Self.protectedKind
            } else if let protection = changes.protection {
                values[kSecAttrAccessible as String] = protection.accessibility.attribute
                values[kSecAttrDescription as String] = ""
            }
        } catch {
            return error.code
        }
        return SecItemUpdate(attributes as CFDictionary, values as CFDictionary)
    }

    package func delete(_ query: KeychainQuery) -> OSStatus { SecItemDelete(attributes(query) as CFDictionary) }

    // MARK: - Attributes

    private func attributes(_ query: KeychainQuery) -> [String: Any] {
        var attributes = Keychain.Search(account: query.account, service: query.service, accessGroup: query.accessGroup).query
        attributes[kSecAttrGeneric as String] = query.generic
        attributes[kSecAttrAccessible as String] = query.accessibility?.attribute
        if let isSynchronizable = query.isSynchronizable { attributes[kSecAttrSynchronizable as String] = isSynchronizable }
        #if os(macOS)
        if isFileBased {
            // A query that includes synchronized items would search the data-protection Keychain.
            attributes[kSecAttrSynchronizable as String] = nil
            attributes[kSecUseDataProtectionKeychain as String] = false
        }
        #endif
        return attributes
    }

    /// The authentication for a call. tvOS has no authentication that an item could require.
    private static func authentication(_ context: (any TokenAuthenticationContext)?, prompt: String? = nil) -> Any? {
        guard context is NoInteraction else { return Keychain.Search.context(context, prompt: prompt) }
        #if canImport(LocalAuthentication) && !os(tvOS)
        return NoInteraction.systemContext
        #else
        return nil
        #endif
    }

    private static func item(_ record: KeychainRecord) throws(KeychainStatus) -> Keychain.Item {
        let control = try accessControl(record.protection)
        return Keychain.Item(
            account: record.account, service: record.service, accessibility: control == nil ? record.protection.accessibility : nil,
            accessGroup: record.accessGroup, accessControl: control, synchronizable: record.isSynchronizable,
            description: control == nil ? nil : protectedKind, generic: record.generic, value: record.value ?? Data())
    }

    private static func record(_ attributes: [String: Any]) -> KeychainRecord? {
        guard let account = attributes[kSecAttrAccount as String] as? String else { return nil }
        let accessibility = (attributes[kSecAttrAccessible as String] as? String).flatMap(Keychain.Accessibility.init(attribute:))
        var record = KeychainRecord(
            service: attributes[kSecAttrService as String] as? String ?? "", account: account,
            accessGroup: attributes[kSecAttrAccessGroup as String] as? String,
            protection: KeychainProtection(accessibility ?? .afterFirstUnlockThisDeviceOnly),
            generic: attributes[kSecAttrGeneric as String] as? Data, value: attributes[kSecValueData as String] as? Data)
        if let control = attributes[kSecAttrAccessControl as String] {
            let object = KeychainProtection.AccessControl.reference(KeychainProtection.Reference(object: control as AnyObject))
            record.accessControlObject = object
            if attributes[kSecAttrDescription as String] as? String == protectedKind { record.protection.accessControl = object }
        }
        record.isSynchronizable = attributes[kSecAttrSynchronizable as String] as? Bool ?? false
        record.modifiedAt = attributes[kSecAttrModificationDate as String] as? Date
        return record
    }

    private static func accessControl(_ protection: KeychainProtection) throws(KeychainStatus) -> SecAccessControl? {
        switch protection.accessControl {
        case nil: return nil
        case .reference(let reference):
            guard let control = reference.accessControl else { throw KeychainStatus(errSecParam) }
            return control
        case .flags(let bits):
            var failure: Unmanaged<CFError>?
            let flags = SecAccessControlCreateFlags(rawValue: .init(bits))
            guard let control = SecAccessControlCreateWithFlags(nil, protection.accessibility.attribute, flags, &failure) else {
                throw KeychainStatus(
                    OSStatus(truncatingIfNeeded: failure.map { CFErrorGetCode($0.takeRetainedValue()) } ?? Int(errSecParam)))
            }
            return control
        }
    }
}

extension KeychainProtection.Reference {
    /// The object as an access control; `nil` if it is another object.
    var accessControl: SecAccessControl? {
        // The type is checked because a Core Foundation type cannot be cast conditionally.
        guard CFGetTypeID(object) == SecAccessControlGetTypeID() else { return nil }
        return unsafeDowncast(object, to: SecAccessControl.self)
    }
}
#endif
