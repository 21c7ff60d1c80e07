// swift-format-ignore-file: AlwaysUseLowerCamelCase
import Darwin

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public final class SecAccessControl: Hashable {
    public static func == (lhs: SecAccessControl, rhs: SecAccessControl) -> Bool { stub() }
    public func hash(into hasher: inout Hasher) { stub() }
}

@available(iOS 8.0, macOS 10.10, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: CFOptionFlags

    public init(rawValue: CFOptionFlags) { stub() }

    public static var userPresence: SecAccessControlCreateFlags { stub() }

    @available(iOS 11.3, macOS 10.13.4, tvOS 11.3, visionOS 1.0, watchOS 4.3, *)
    public static var biometryAny: SecAccessControlCreateFlags { stub() }

    @available(iOS 11.3, macOS 10.13.4, tvOS 11.3, visionOS 1.0, watchOS 4.3, *)
    public static var biometryCurrentSet: SecAccessControlCreateFlags { stub() }

    @available(iOS 9.0, macOS 10.11, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
    public static var devicePasscode: SecAccessControlCreateFlags { stub() }

    @available(iOS 9.0, macOS 10.12.1, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
    public static var or: SecAccessControlCreateFlags { stub() }

    @available(iOS 9.0, macOS 10.12.1, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
    public static var and: SecAccessControlCreateFlags { stub() }

    @available(iOS 9.0, macOS 10.12.1, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
    public static var privateKeyUsage: SecAccessControlCreateFlags { stub() }
}

@available(iOS 8.0, macOS 10.10, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public func SecAccessControlGetTypeID() -> CFTypeID { stub() }

@available(iOS 8.0, macOS 10.10, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFString, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? { stub() }
