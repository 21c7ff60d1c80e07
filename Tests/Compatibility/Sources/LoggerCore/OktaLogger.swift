public import Foundation

// Stands for the module of okta-logger-swift, with its names.

/// The levels of a log.
public struct OktaLoggerLogLevel: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let debug = OktaLoggerLogLevel(rawValue: 1)
}

/// A logger.
public protocol OktaLoggerProtocol {
    func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
}

/// The logger of an app.
open class OktaLogger: OktaLoggerProtocol {
    public let level: OktaLoggerLogLevel

    public init(level: OktaLoggerLogLevel) { self.level = level }

    open func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
}
