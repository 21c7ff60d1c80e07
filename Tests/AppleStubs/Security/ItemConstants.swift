import Darwin

// Item classes.

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecClass: CFString { stub() }

@available(iOS 2.0, macOS 10.7, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecClassGenericPassword: CFString { stub() }

@available(iOS 2.0, macOS 10.7, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecClassKey: CFString { stub() }

// Attributes of items.

@available(iOS 8.0, macOS 10.10, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrAccessControl: CFString { stub() }

@available(iOS 3.0, macOS 10.9, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrAccessGroup: CFString { stub() }

@available(iOS 4.0, macOS 10.9, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrAccessible: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrAccount: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrApplicationTag: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrCreationDate: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrDescription: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrGeneric: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrIsPermanent: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrKeySizeInBits: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrKeyType: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrLabel: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrModificationDate: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrServer: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrService: CFString { stub() }

@available(iOS 7.0, macOS 10.9, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrSynchronizable: CFString { stub() }

@available(iOS 7.0, macOS 10.9, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrSynchronizableAny: CFString { stub() }

@available(iOS 9.0, macOS 10.12, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrTokenID: CFString { stub() }

@available(iOS 2.0, macOS 10.8, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecPrivateKeyAttrs: CFString { stub() }

// Values of attributes.

@available(iOS 4.0, macOS 10.9, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrAccessibleAfterFirstUnlock: CFString { stub() }

@available(iOS 4.0, macOS 10.9, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString { stub() }

@available(iOS 8.0, macOS 10.10, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString { stub() }

@available(iOS 4.0, macOS 10.9, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrAccessibleWhenUnlocked: CFString { stub() }

@available(iOS 4.0, macOS 10.9, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString { stub() }

@available(iOS 10.0, macOS 10.12, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
public var kSecAttrKeyTypeECSECPrimeRandom: CFString { stub() }

@available(iOS 9.0, macOS 10.12, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecAttrTokenIDSecureEnclave: CFString { stub() }

// Keys and values of searches.

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecMatchLimit: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecMatchLimitAll: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecMatchLimitOne: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecReturnAttributes: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecReturnData: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecReturnRef: CFString { stub() }

@available(iOS 9.0, macOS 10.11, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecUseAuthenticationContext: CFString { stub() }

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public var kSecUseDataProtectionKeychain: CFString { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var kSecValueData: CFString { stub() }
