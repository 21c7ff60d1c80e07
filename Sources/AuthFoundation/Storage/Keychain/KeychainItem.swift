#if canImport(Security)
public import Foundation
public import Security

extension Keychain {
    /// A generic password in the Keychain.
    public struct Item: Equatable {
        /// The account: the key of the item within its service.
        public let account: String
        /// The name of the service to which the item belongs; `nil` for none.
        public let service: String?
        /// The name of the server to which the item belongs; `nil` for none.
        public let server: String?
        /// The condition under which the item is readable.
        public var accessibility: Accessibility?
        /// Whether iCloud Keychain may synchronize the item.
        public var synchronizable: Bool?
        /// The group of apps that share the item.
        public var accessGroup: String?
        /// The user authentication that is required to read the item.
        public var accessControl: SecAccessControl?
        /// The label that the user sees.
        public var label: String?
        /// The description that the user sees.
        public var description: String?
        /// Data that is readable without the value.
        public var generic: Data?
        /// The secret value.
        public var value: Data

        /// Creates an item.
        /// - Parameters:
        ///   - account: The key of the item within its service.
        ///   - service: The name of the service to which the item belongs.
        ///   - server: The name of the server to which the item belongs.
        ///   - accessibility: The condition under which the item is readable.
        ///   - accessGroup: The group of apps that share the item.
        ///   - accessControl: The user authentication that is required to read the item.
        ///   - synchronizable: Whether iCloud Keychain may synchronize the item.
        ///   - label: The label that the user sees.
        ///   - description: The description that the user sees.
        ///   - generic: Data that is readable without the value.
        ///   - value: The secret value.
        public init(
            account: String, service: String? = nil, server: String? = nil, accessibility: Accessibility? = .unlocked,
            accessGroup: String? = nil, accessControl: SecAccessControl? = nil, synchronizable: Bool? = nil, label: String? = nil,
            description: String? = nil, generic: Data? = nil, value: Data
        ) {
            self.account = account
            self.service = service
            self.server = server
            self.accessibility = accessibility
            self.accessGroup = accessGroup
            self.accessControl = accessControl
            self.synchronizable = synchronizable
            self.label = label
            self.description = description
            self.generic = generic
            self.value = value
        }

        init(attributes: [String: Any]) throws {
            guard let account = attributes[kSecAttrAccount as String] as? String else { throw KeychainError.missingAccount }
            guard let value = attributes[kSecValueData as String] as? Data else { throw KeychainError.missingValueData }
            self.init(
                account: account, service: attributes[kSecAttrService as String] as? String,
                server: attributes[kSecAttrServer as String] as? String,
                accessibility: (attributes[kSecAttrAccessible as String] as? String).flatMap(Accessibility.init(attribute:)),
                accessGroup: attributes[kSecAttrAccessGroup as String] as? String,
                synchronizable: attributes[kSecAttrSynchronizable as String] as? Bool,
                label: attributes[kSecAttrLabel as String] as? String,
                description: attributes[kSecAttrDescription as String] as? String,
                generic: attributes[kSecAttrGeneric as String] as? Data, value: value)
        }

        /// Saves the item and replaces an existing item with the same account and service.
        /// - Parameter authenticationContext: An authentication that the user has already completed.
        /// - Throws: ``KeychainError/cannotSave(code:)``.
        @discardableResult
        public func save(authenticationContext: (any KeychainAuthenticationContext)? = nil) throws -> Item {
            var attributes = attributes
            attributes[kSecUseAuthenticationContext as String] = authenticationContext
            var status = SecItemAdd(attributes as CFDictionary, nil)
            if status == errSecDuplicateItem {
                // Update in place, so that the old item exists until the new one does.
                status = SecItemUpdate(query as CFDictionary, changes as CFDictionary)
            }
            guard status == errSecSuccess else { throw KeychainError.cannotSave(code: status) }
            return self
        }

        /// Replaces the data of this item with the data of another item.
        /// - Parameters:
        ///   - item: The new data.
        ///   - authenticationContext: An authentication that the user has already completed.
        /// - Throws: ``KeychainError/cannotUpdate(code:)``.
        public func update(_ item: Item, authenticationContext: (any KeychainAuthenticationContext)? = nil) throws {
            var query = query
            query[kSecUseAuthenticationContext as String] = authenticationContext
            let status = SecItemUpdate(query as CFDictionary, item.changes as CFDictionary)
            guard status == errSecSuccess else { throw KeychainError.cannotUpdate(code: status) }
        }

        /// Deletes the item. No-op if it does not exist.
        /// - Throws: ``KeychainError/cannotDelete(code:)``.
        public func delete() throws {
            let status = SecItemDelete(query as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError.cannotDelete(code: status) }
        }

        private var query: [String: Any] {
            Search(account: account, service: service, server: server, accessGroup: accessGroup).query
        }

        /// The attributes that can change in an existing item.
        private var changes: [String: Any] {
            var changes: [String: Any] = [kSecValueData as String: value]
            changes[kSecAttrGeneric as String] = generic
            changes[kSecAttrLabel as String] = label
            changes[kSecAttrDescription as String] = description
            if let accessControl {
                changes[kSecAttrAccessControl as String] = accessControl
            } else {
                changes[kSecAttrAccessible as String] = accessibility?.attribute
            }
            return changes
        }

        var attributes: [String: Any] {
            var attributes = changes
            attributes[kSecClass as String] = kSecClassGenericPassword
            attributes[kSecAttrAccount as String] = account
            attributes[kSecAttrService as String] = service
            attributes[kSecAttrServer as String] = server
            attributes[kSecAttrAccessGroup as String] = accessGroup
            attributes[kSecAttrSynchronizable as String] = synchronizable
            #if os(macOS)
            attributes[kSecUseDataProtectionKeychain as String] = true
            #endif
            return attributes
        }
    }
}
#endif
