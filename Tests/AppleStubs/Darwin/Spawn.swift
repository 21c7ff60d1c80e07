// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals

// The types exist on every platform; tvOS and watchOS forbid the functions.

@available(iOS 2.0, macOS 10.5, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer

@available(iOS 2.0, macOS 10.5, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias posix_spawnattr_t = UnsafeMutableRawPointer

@available(iOS 4.3, macOS 10.7, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public var POSIX_SPAWN_CLOEXEC_DEFAULT: Int32 { stub() }

@available(iOS 2.0, macOS 10.5, visionOS 1.0, *)
@discardableResult
public func posix_spawn_file_actions_init(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>!) -> Int32 { stub() }

@available(iOS 2.0, macOS 10.5, visionOS 1.0, *)
@discardableResult
public func posix_spawn_file_actions_destroy(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>!) -> Int32 { stub() }

@available(iOS 2.0, macOS 10.5, visionOS 1.0, *)
@discardableResult
public func posix_spawn_file_actions_addopen(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>!, _ descriptor: Int32, _ path: UnsafePointer<CChar>!, _ flags: Int32,
    _ mode: mode_t
) -> Int32 { stub() }

@available(iOS 2.0, macOS 10.5, visionOS 1.0, *)
@discardableResult
public func posix_spawn_file_actions_adddup2(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>!, _ descriptor: Int32, _ newDescriptor: Int32
) -> Int32 { stub() }

@available(iOS 2.0, macOS 10.5, visionOS 1.0, *)
@discardableResult
public func posix_spawnattr_init(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>!) -> Int32 { stub() }

@available(iOS 2.0, macOS 10.5, visionOS 1.0, *)
@discardableResult
public func posix_spawnattr_destroy(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>!) -> Int32 { stub() }

@available(iOS 2.0, macOS 10.5, visionOS 1.0, *)
@discardableResult
public func posix_spawnattr_setflags(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>!, _ flags: Int16) -> Int32 { stub() }

@available(iOS 2.0, macOS 10.5, visionOS 1.0, *)
@discardableResult
public func posix_spawn(
    _ process: UnsafeMutablePointer<pid_t>!, _ path: UnsafePointer<CChar>!, _ actions: UnsafePointer<posix_spawn_file_actions_t?>!,
    _ attributes: UnsafePointer<posix_spawnattr_t?>!, _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>!,
    _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>!
) -> Int32 { stub() }
