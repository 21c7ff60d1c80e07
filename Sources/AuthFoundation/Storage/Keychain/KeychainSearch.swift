#if canImport(Security)
public import Foundation
public import Security

#if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
import LocalAuthentication
#endif

extension Keychain {
    /// A search for generic passwords in the Keychain.
    public struct Search: Sendable {
        /// The account of the items; `nil` for every account.
        public let account: String?
        /// The service of the items; `nil` for every service.
        public let service: String?
        /// The server of the items; `nil` for every server.
        public let server: String?
        /// The group of apps that share the items; `nil` for every group of the app.
        public let accessGroup: String?

        /// Creates a search. Parameters that are `nil` match all items.
        /// - Parameter accessGroup: The group of apps that share the items.
        public init(account: String? = nil, service: String? = nil, server: String? = nil, accessGroup: String? = nil) {
            self.account = account
            self.service = service
            self.server = server
            self.accessGroup = accessGroup
        }

        /// Returns the first matching item with its secret value.
        /// - Parameters:
        ///   - prompt: The text that the user sees if the item must be unlocked.
        ///   - authenticationContext: An authentication that the user has already completed.
        /// - Throws: ``KeychainError/notFound`` if there is no such item; otherwise another ``KeychainError``.
        public func get(prompt: String? = nil, authenticationContext: (any KeychainAuthenticationContext)? = nil) throws -> Item {
            var query = query
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            query[kSecReturnAttributes as String] = true
            query[kSecReturnData as String] = true
            query[kSecUseAuthenticationContext as String] = Self.context(authenticationContext, prompt: prompt)
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status != errSecItemNotFound else { throw KeychainError.notFound }
            guard status == errSecSuccess else { throw KeychainError.cannotGet(code: status) }
            guard let attributes = found as? [String: Any] else { throw KeychainError.invalidFormat }
            return try Item(attributes: attributes)
        }

        /// Returns the authentication for a read; a new one with the text if there is none yet.
        static func context(_ given: (any TokenAuthenticationContext)?, prompt: String?) -> Any? {
            // watchOS has no text for the authentication.
            #if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
            if given == nil, let prompt {
                let context = LAContext()
                context.localizedReason = prompt
                return context
            }
            #endif
            return given
        }

        /// Returns all matching items without their secret values.
        /// - Throws: ``KeychainError``.
        public func list() throws -> [Result] {
            var query = query
            query[kSecMatchLimit as String] = kSecMatchLimitAll
            query[kSecReturnAttributes as String] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return [] }
            guard status == errSecSuccess else { throw KeychainError.cannotList(code: status) }
            guard let items = found as? [[String: Any]] else { throw KeychainError.invalidFormat }
            return try items.map(Result.init(attributes:))
        }

        /// Deletes all matching items.
        /// - Throws: ``KeychainError/cannotDelete(code:)``.
        public func delete() throws {
            let status = SecItemDelete(query as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError.cannotDelete(code: status) }
        }

        var query: [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrSynchronizable as String: kSecAttrSynchronizableAny,
            ]
            query[kSecAttrAccount as String] = account
            query[kSecAttrService as String] = service
            query[kSecAttrServer as String] = server
            query[kSecAttrAccessGroup as String] = accessGroup
            #if os(macOS)
            query[kSecUseDataProtectionKeychain as String] = true
            #endif
            return query
        }

        /// A found item without its secret value.
        public struct Result {
            /// The account: the key of the item within its service.
            public let account: String
            /// The name of the service to which the item belongs; `nil` for none.
            public let service: String?
            /// The name of the server to which the item belongs; `nil` for none.
            public let server: String?
            /// The group of apps that share the item.
            public let accessGroup: String?
            /// The condition under which the item is readable.
            public var accessibility: Accessibility?
            /// Whether iCloud Keychain may synchronize the item.
            public var synchronizable: Bool?
            /// The user authentication that is required to read the item.
            public var accessControl: SecAccessControl?
            /// The label that the user sees.
            public let label: String?
            /// The description that the user sees.
            public let description: String?
            /// Data that is readable without the secret value.
            public let generic: Data?
            /// The creation time.
            public let creationDate: Date
            /// The time of the last change.
            public let modificationDate: Date

            init(attributes: [String: Any]) throws {
                guard let account = attributes[kSecAttrAccount as String] as? String else { throw KeychainError.missingAccount }
                guard let creationDate = attributes[kSecAttrCreationDate as String] as? Date,
                    let modificationDate = attributes[kSecAttrModificationDate as String] as? Date
                else { throw KeychainError.missingAttribute }
                self.account = account
                self.creationDate = creationDate
                self.modificationDate = modificationDate
                service = attributes[kSecAttrService as String] as? String
                server = attributes[kSecAttrServer as String] as? String
                accessGroup = attributes[kSecAttrAccessGroup as String] as? String
                accessibility = (attributes[kSecAttrAccessible as String] as? String).flatMap(Accessibility.init(attribute:))
                synchronizable = attributes[kSecAttrSynchronizable as String] as? Bool
                label = attributes[kSecAttrLabel as String] as? String
                description = attributes[kSecAttrDescription as String] as? String
                generic = attributes[kSecAttrGeneric as String] as? Data
            }

            /// Returns the item with its secret value.
            /// - Parameters:
            ///   - prompt: The text that the user sees if the item must be unlocked.
            ///   - authenticationContext: An authentication that the user has already completed.
            /// - Throws: ``KeychainError``.
            public func get(prompt: String? = nil, authenticationContext: (any KeychainAuthenticationContext)? = nil) throws -> Item {
                try search.get(prompt: prompt, authenticationContext: authenticationContext)
            }

            /// Replaces the data of the item.
            /// - Parameters:
            ///   - item: The new data.
            ///   - authenticationContext: An authentication that the user has already completed.
            /// - Throws: ``KeychainError``.
            public func update(_ item: Item, authenticationContext: (any KeychainAuthenticationContext)? = nil) throws {
                try Item(account: account, service: service, server: server, accessGroup: accessGroup, value: Data())
                    .update(item, authenticationContext: authenticationContext)
            }

            /// Deletes the item.
            /// - Throws: ``KeychainError/cannotDelete(code:)``.
            public func delete() throws {
                try search.delete()
            }

            private var search: Search {
                Search(account: account, service: service, server: server, accessGroup: accessGroup)
            }
        }
    }
}
#endif
