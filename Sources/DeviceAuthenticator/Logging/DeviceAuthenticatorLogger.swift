public import Foundation

/// The level of a log event.
public enum DeviceAuthenticatorLogLevel: Int, Sendable, CaseIterable {
    /// Details for debugging.
    case debug
    /// A normal event.
    case info
    /// A problem that may need attention.
    case warning
    /// A failure.
    case error
    /// An action of the user.
    case uiEvent
}

/// A logger that receives an authenticator's log events, on any thread. The members match those of the logger in okta-logger-swift, so that
/// Okta's logger can conform with an empty extension. Events never contain tokens, keys, challenges or push tokens.
public protocol DeviceAuthenticatorLogger: Sendable {
    /// Logs an event of any level. The default implementation calls the function of that level.
    func log(
        level: DeviceAuthenticatorLogLevel, eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String,
        line: NSNumber, funcName: String)
    /// Logs details for debugging.
    func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    /// Logs a normal event.
    func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    /// Logs a problem that may need attention.
    func warning(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    /// Logs an action of the user.
    func uiEvent(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    /// Logs a failure.
    func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
}

extension DeviceAuthenticatorLogger {
    /// Logs an event with the function of its level.
    public func log(
        level: DeviceAuthenticatorLogLevel, eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String,
        line: NSNumber, funcName: String
    ) {
        switch level {
        case .debug: debug(eventName: eventName, message: message, properties: properties, file: file, line: line, funcName: funcName)
        case .info: info(eventName: eventName, message: message, properties: properties, file: file, line: line, funcName: funcName)
        case .warning: warning(eventName: eventName, message: message, properties: properties, file: file, line: line, funcName: funcName)
        case .error: error(eventName: eventName, message: message, properties: properties, file: file, line: line, funcName: funcName)
        case .uiEvent: uiEvent(eventName: eventName, message: message, properties: properties, file: file, line: line, funcName: funcName)
        }
    }
}

/// A name of okta-logger-swift. It is unavailable in this module, so that an app that imports both modules gets the type of
/// okta-logger-swift.
@available(*, unavailable, renamed: "DeviceAuthenticatorLogger")
public typealias OktaLoggerProtocol = DeviceAuthenticatorLogger

/// A name of okta-logger-swift. It is unavailable in this module, so that an app that imports both modules gets the type of
/// okta-logger-swift.
@available(*, unavailable, renamed: "DeviceAuthenticatorLogLevel")
public typealias OktaLoggerLogLevel = DeviceAuthenticatorLogLevel

/// The default logger, which writes warnings and errors to standard error.
public struct ConsoleLogger: DeviceAuthenticatorLogger {
    /// Creates a logger.
    public init() {}

    /// Does nothing.
    public func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    {}
    /// Does nothing.
    public func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
    }
    /// Does nothing.
    public func uiEvent(
        eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String
    ) {}

    /// Writes the event as one line.
    public func warning(
        eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String
    ) { write("warning", eventName, message) }

    /// Writes the event as one line.
    public func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    {
        write("error", eventName, message)
    }

    private func write(_ level: String, _ eventName: String, _ message: String?) {
        // Errors are ignored, because standard error may be closed.
        try? FileHandle.standardError.write(contentsOf: Data(Self.line(level, eventName, message).utf8))
    }

    /// Formats one line. Replaces terminal control characters, which the message may contain.
    static func line(_ level: String, _ eventName: String, _ message: String?) -> String {
        let text = "\(eventName)\(message.map { ": \($0)" } ?? "")"
        return "DeviceAuthenticator \(level): \(PrintableText.line(text))\n"
    }
}

struct EventLog: Sendable {
    let loggers: [any DeviceAuthenticatorLogger]

    func info(_ event: String, _ message: String, file: String = #fileID, line: Int = #line, function: String = #function) {
        for logger in loggers {
            logger.info(
                eventName: event, message: message, properties: nil, file: file, line: NSNumber(value: line), funcName: function)
        }
    }

    func warning(_ event: String, _ message: String, file: String = #fileID, line: Int = #line, function: String = #function) {
        for logger in loggers {
            logger.warning(
                eventName: event, message: message, properties: nil, file: file, line: NSNumber(value: line), funcName: function)
        }
    }
}

/// A filter that replaces the characters in texts that could control a terminal or change the text direction.
package enum PrintableText {
    /// Replaces the characters for which ``steers(_:)`` is `true`. Keeps line breaks.
    package static func lines(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { steers($0) ? "\u{FFFD}" : $0 }))
    }

    /// Replaces the characters for which ``steers(_:)`` is `true`, and line breaks with spaces, so that the text cannot imitate further
    /// lines.
    package static func line(_ text: String) -> String { lines(text).replacing("\n", with: " ") }

    /// Whether a character is a control character other than a line break, a Unicode separator, or a direction mark.
    package static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A: false
        case 0x061C, 0x200E...0x200F, 0x2028...0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.properties.generalCategory == .control
        }
    }
}
