// swift-format-ignore-file: AlwaysUseLowerCamelCase
@_exported import Darwin

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { stub() }

@available(iOS 2.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { stub() }

// Results.

@available(iOS 11.3, macOS 10.3, tvOS 11.3, visionOS 1.0, watchOS 4.3, *)
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var errSecSuccess: OSStatus { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var errSecDecode: OSStatus { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var errSecDuplicateItem: OSStatus { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var errSecInteractionNotAllowed: OSStatus { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var errSecInternalError: OSStatus { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var errSecItemNotFound: OSStatus { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var errSecMissingEntitlement: OSStatus { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var errSecParam: OSStatus { stub() }
