// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals
import Foundation

// These declarations belong to Core Foundation. They are in this module because `Security` uses them and `CoreFoundationStubs` exports
// `Security`, as Foundation does on Apple's systems.

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias OSStatus = Int32

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias CFIndex = Int

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias CFOptionFlags = UInt

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias CFTypeID = UInt

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias CFTypeRef = AnyObject

// On Apple's systems, `as` converts between these types and Swift's types. On Linux it does not, so the types are aliases.

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias CFString = String

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias CFData = Data

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias CFDictionary = [String: Any]

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias CFArray = [AnyObject]

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public final class CFAllocator: Hashable {
    public static func == (lhs: CFAllocator, rhs: CFAllocator) -> Bool { stub() }
    public func hash(into hasher: inout Hasher) { stub() }
}

@available(iOS 2.0, macOS 10.5, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public final class CFError: Error, Hashable {
    public static func == (lhs: CFError, rhs: CFError) -> Bool { stub() }
    public func hash(into hasher: inout Hasher) { stub() }
}

@available(iOS 2.0, macOS 10.5, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public func CFErrorGetCode(_ err: CFError!) -> CFIndex { stub() }

@available(iOS 2.0, macOS 10.5, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public func CFErrorCopyDescription(_ err: CFError!) -> CFString! { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID { stub() }
