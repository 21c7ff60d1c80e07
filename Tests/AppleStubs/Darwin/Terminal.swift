// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias tcflag_t = UInt

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public struct termios: BitwiseCopyable {
    public init() {}

    public var c_iflag: tcflag_t {
        get { stub() }
        set {}
    }

    public var c_lflag: tcflag_t {
        get { stub() }
        set {}
    }
}

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
@discardableResult
public func tcgetattr(_ descriptor: Int32, _ settings: UnsafeMutablePointer<termios>!) -> Int32 { stub() }

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
@discardableResult
public func tcsetattr(_ descriptor: Int32, _ actions: Int32, _ settings: UnsafePointer<termios>!) -> Int32 { stub() }
