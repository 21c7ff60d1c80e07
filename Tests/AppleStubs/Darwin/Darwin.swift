// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals
@_exported import Glibc

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

// Symbols that exist only in Apple's C library.

@available(iOS 2.0, macOS 10.2, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var SO_NOSIGPIPE: Int32 { stub() }

@available(iOS 2.0, macOS 10.5, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
extension stat {
    public var st_mtimespec: timespec {
        get { stub() }
        set {}
    }
}

// Symbols that have other types in Glibc. `CoreFoundationStubs` exports each of these names with a scoped import, because the names would
// otherwise be ambiguous: Foundation on Linux exports Glibc too.

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var SOCK_STREAM: Int32 { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var SHUT_WR: Int32 { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias pthread_key_t = UInt

@available(iOS 2.0, macOS 10.4, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
@discardableResult
public func pthread_key_create(
    _ key: UnsafeMutablePointer<pthread_key_t>!, _ destructor: (@convention(c) (UnsafeMutableRawPointer) -> Void)?
) -> Int32 { stub() }

@available(iOS 2.0, macOS 10.4, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
@discardableResult
public func pthread_getspecific(_ key: pthread_key_t) -> UnsafeMutableRawPointer? { stub() }

@available(iOS 2.0, macOS 10.4, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
@discardableResult
public func pthread_setspecific(_ key: pthread_key_t, _ value: UnsafeRawPointer?) -> Int32 { stub() }
