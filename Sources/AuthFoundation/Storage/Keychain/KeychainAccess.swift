package import Foundation

#if canImport(LocalAuthentication) && !os(tvOS)
import LocalAuthentication
#endif

/// The operations of a Keychain on generic passwords. ``SystemKeychain`` performs them with Apple's Security framework. The rules of token
/// storage are written against this protocol, so that tests on every platform can use a double of the Keychain. Safe from any thread.
package protocol KeychainAccess: Sendable {
    /// Adds an item; ``KeychainStatus/duplicateItem`` if an item has the same account, service, group and synchronization.
    func add(_ item: KeychainRecord, context: (any TokenAuthenticationContext)?) -> OSStatus

    /// Returns the matching items without their values, which needs no user authentication. While the device is locked, an item that is
    /// readable only on an unlocked device causes ``KeychainStatus/interactionNotAllowed``.
    func list(_ query: KeychainQuery) -> Result<[KeychainRecord], KeychainStatus>

    /// Returns the first matching item with its value.
    /// - Parameters:
    ///   - prompt: The text that the user sees if the item must be unlocked.
    ///   - context: An authentication that the user has already completed.
    func read(
        _ query: KeychainQuery, prompt: String?, context: (any TokenAuthenticationContext)?
    ) -> Result<KeychainRecord, KeychainStatus>

    /// Changes the matching items. The Keychain compares and changes an item in one step. The Keychain may ask the user to unlock an item
    /// with access control, because it reads the item's value.
    func update(_ query: KeychainQuery, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)?) -> OSStatus

    /// Deletes the matching items.
    func delete(_ query: KeychainQuery) -> OSStatus
}

/// Forbids the Keychain to ask the user. The read of an item that requires the user fails with ``KeychainStatus/interactionNotAllowed``.
package struct NoInteraction: TokenAuthenticationContext {
    package init() {}

    #if canImport(LocalAuthentication) && !os(tvOS)
    /// The system's form, which an app's own storage also understands.
    static var systemContext: LAContext {
        let context = LAContext()
        context.interactionNotAllowed = true
        return context
    }
    #endif
}

/// A result code that an operation of the Keychain returned as an error.
package struct KeychainStatus: Error, Equatable {
    package static let success: OSStatus = 0
    /// `errSecDuplicateItem`.
    package static let duplicateItem: OSStatus = -25_299
    /// `errSecItemNotFound`.
    package static let itemNotFound: OSStatus = -25_300
    /// `errSecInteractionNotAllowed`: the device is locked, or the user cannot be asked now.
    package static let interactionNotAllowed: OSStatus = -25_308
    /// `errSecUserCanceled`: the user closed the system's question.
    package static let userCanceled: OSStatus = -128
    /// `errSecAuthFailed`: the user could not be authenticated.
    package static let authFailed: OSStatus = -25_293
    /// `errSecMissingEntitlement`: the app may not use this Keychain.
    package static let missingEntitlement: OSStatus = -34_018

    package let code: OSStatus

    package init(_ code: OSStatus) { self.code = code }
}

/// The condition of a search in a Keychain. A property that is `nil` matches every item.
package struct KeychainQuery: Sendable, Hashable {
    /// An empty string matches items without a service.
    package var service: String?
    package var account: String?
    package var accessGroup: String?
    package var generic: Data?
    package var isSynchronizable: Bool?
    package var accessibility: Keychain.Accessibility?

    package init(service: String, account: String? = nil, accessGroup: String? = nil, generic: Data? = nil) {
        (self.service, self.account, self.accessGroup, self.generic) = (service, account, accessGroup, generic)
    }
}

/// A generic password of a Keychain.
package struct KeychainRecord: Sendable {
    package var service: String
    package var account: String
    /// The group of apps that share the item; `nil` for the app's first group.
    package var accessGroup: String?
    package var protection: KeychainProtection
    /// Whether iCloud Keychain may synchronize the item.
    package var isSynchronizable = false
    /// Data that is readable without the value.
    package var generic: Data?
    /// The secret value; `nil` in a list.
    package var value: Data?
    /// The access control object, which the system returns for every item, also for one whose value requires no authentication.
    package var accessControlObject: KeychainProtection.AccessControl?
    /// The time of the last change; `nil` before the item is stored.
    package var modifiedAt: Date?

    /// The condition that matches this item only.
    package var query: KeychainQuery { KeychainQuery(service: service, account: account, accessGroup: accessGroup) }

    package init(
        service: String, account: String, accessGroup: String? = nil, protection: KeychainProtection, generic: Data? = nil, value: Data?
    ) {
        (self.service, self.account, self.accessGroup) = (service, account, accessGroup)
        (self.protection, self.generic, self.value) = (protection, generic, value)
    }
}

/// The protection of an item: when it is readable, and which authentication its value requires.
package struct KeychainProtection: Sendable {
    /// The user authentication that the value requires.
    package enum AccessControl: Sendable {
        /// The raw value of `SecAccessControlCreateFlags`.
        case flags(UInt)
        /// A `SecAccessControl` of the app.
        case reference(Reference)
    }

    /// A `SecAccessControl`. Safe to send because access controls are immutable.
    package struct Reference: @unchecked Sendable {
        package let object: AnyObject
    }

    package var accessibility: Keychain.Accessibility
    /// `nil` if the value requires no user authentication.
    package var accessControl: AccessControl?

    package init(_ accessibility: Keychain.Accessibility, accessControl: AccessControl? = nil) {
        (self.accessibility, self.accessControl) = (accessibility, accessControl)
    }
}

/// The changes of an item. A property that is `nil` stays unchanged.
package struct KeychainChanges: Sendable {
    package var generic: Data?
    package var value: Data?
    package var protection: KeychainProtection?

    package init(generic: Data? = nil, value: Data? = nil, protection: KeychainProtection? = nil) {
        (self.generic, self.value, self.protection) = (generic, value, protection)
    }
}

/// The Keychain form of the ``Credential/Security`` options.
package struct KeychainOptions: Sendable {
    package var accessibility: Keychain.Accessibility?
    package var accessControl: KeychainProtection.AccessControl?
    package var accessGroup: String?
    package var context: (any TokenAuthenticationContext)?
    /// Whether the item may be synchronized if the settings and the accessibility permit it. A migration does not synchronize an item whose
    /// original was not synchronized.
    var allowsSynchronization = true

    package init(
        accessibility: Keychain.Accessibility? = nil, accessControl: KeychainProtection.AccessControl? = nil, accessGroup: String? = nil
    ) {
        (self.accessibility, self.accessControl, self.accessGroup) = (accessibility, accessControl, accessGroup)
    }

    init(_ security: [Credential.Security]) {
        #if canImport(Security)
        for option in security {
            switch option {
            case .accessibility(let value): accessibility = value
            case .accessControl(let flags): accessControl = .flags(UInt(clamping: flags.rawValue))
            case .accessControlRef(let control): accessControl = .reference(KeychainProtection.Reference(object: control))
            case .accessGroup(let name): accessGroup = name
            #if canImport(LocalAuthentication) && !os(tvOS)
            case .context(let context): self.context = context
            #endif
            }
        }
        #endif
    }

    /// The protection for an existing item; `nil` if the options do not change it.
    var newProtection: KeychainProtection? { accessibility == nil && accessControl == nil ? nil : protection }

    /// The protection of a new item.
    var protection: KeychainProtection {
        KeychainProtection(accessibility ?? .afterFirstUnlockThisDeviceOnly, accessControl: accessControl)
    }

    var isSynchronizable: Bool { isSynchronizable(isPermitted: Credential.Security.isDefaultSynchronizable) }

    func isSynchronizable(isPermitted: Bool) -> Bool {
        isPermitted && allowsSynchronization && accessControl == nil && accessibility?.isSynchronizable == true
    }
}
