internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
public struct Logger: @unchecked Sendable {
    public init(subsystem: String, category: String) { stub() }

    public func debug(_ message: OSLogMessage) { stub() }

    public func notice(_ message: OSLogMessage) { stub() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
public struct OSLogMessage: ExpressibleByStringInterpolation {
    public init(stringInterpolation: OSLogInterpolation) { stub() }

    public init(stringLiteral value: String) { stub() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
public struct OSLogInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) { stub() }

    public mutating func appendLiteral(_ literal: String) { stub() }

    public mutating func appendInterpolation(_ argumentString: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto) {
        stub()
    }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
public struct OSLogPrivacy {
    public static var auto: OSLogPrivacy { stub() }

    public static var `public`: OSLogPrivacy { stub() }
}
