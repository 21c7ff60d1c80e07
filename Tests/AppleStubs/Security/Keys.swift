// swift-format-ignore-file: AlwaysUseLowerCamelCase
import Darwin

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public final class SecKey: Hashable {
    public static func == (lhs: SecKey, rhs: SecKey) -> Bool { stub() }
    public func hash(into hasher: inout Hasher) { stub() }
}

@available(iOS 10.0, macOS 10.12, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    public let rawValue: CFString

    public init(rawValue: CFString) { stub() }

    public static var ecdsaSignatureMessageX962SHA256: SecKeyAlgorithm { stub() }
}

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public func SecKeyGetTypeID() -> CFTypeID { stub() }

@available(iOS 10.0, macOS 10.12, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? { stub() }

@available(iOS 10.0, macOS 10.12, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { stub() }

@available(iOS 10.0, macOS 10.12, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { stub() }

@available(iOS 10.0, macOS 10.12, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { stub() }
