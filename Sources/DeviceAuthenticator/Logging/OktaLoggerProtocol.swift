public import Foundation

/// How important a logged event is.
public enum OktaLoggerLogLevel: Int, Sendable, CaseIterable {
    /// For those who look for a fault.
    case debug
    /// What happened.
    case info
    /// What may need attention.
    case warning
    /// What failed.
    case error
    /// What the person did.
    case uiEvent
}

/// Where an authenticator tells what it does. The members are those of Okta's logger, so that one of it fits with an empty extension.
///
/// Called from any thread. No event holds a token, a key, a challenge or a push token.
public protocol OktaLoggerProtocol: Sendable {
    /// Logs an event of any level; by default calls the member of that level.
    func log(
        level: OktaLoggerLogLevel, eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber,
        funcName: String)
    /// Logs for those who look for a fault.
    func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    /// Logs what happened.
    func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    /// Logs what may need attention.
    func warning(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    /// Logs what the person did.
    func uiEvent(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    /// Logs what failed.
    func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
}

extension OktaLoggerProtocol {
    /// Logs an event of any level by the member of that level.
    public func log(
        level: OktaLoggerLogLevel, eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber,
        funcName: String
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

/// Writes warnings and errors to standard error: what an authenticator logs to if it is given nothing else.
public struct ConsoleLogger: OktaLoggerProtocol {
    /// A logger.
    public init() {}

    /// Writes nothing.
    public func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    {}
    /// Writes nothing.
    public func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
    }
    /// Writes nothing.
    public func uiEvent(
        eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String
    ) {}

    /// Writes a line.
    public func warning(
        eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String
    ) { write("warning", eventName, message) }

    /// Writes a line.
    public func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String)
    {
        write("error", eventName, message)
    }

    private func write(_ level: String, _ eventName: String, _ message: String?) {
        // A closed standard error is nobody's fault here.
        try? FileHandle.standardError.write(contentsOf: Data(Self.line(level, eventName, message).utf8))
    }

    /// One line, whatever others have put into the message: it may be read on a terminal.
    static func line(_ level: String, _ eventName: String, _ message: String?) -> String {
        let text = "\(eventName)\(message.map { ": \($0)" } ?? "")"
        return "DeviceAuthenticator \(level): \(PrintableText.line(text))\n"
    }
}

/// The loggers of one authenticator.
struct EventLog: Sendable {
    let loggers: [any OktaLoggerProtocol]

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

/// Texts from elsewhere without what would steer a terminal, or turn the direction of what follows.
package enum PrintableText {
    /// A text that may have lines.
    package static func lines(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { steers($0) ? "\u{FFFD}" : $0 }))
    }

    /// A text that is not to look like further lines of who writes it.
    package static func line(_ text: String) -> String { lines(text).replacing("\n", with: " ") }

    /// Whether a character controls a terminal: control characters other than line breaks, separators and direction marks.
    package static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A: false
        case 0x061C, 0x200E...0x200F, 0x2028...0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.properties.generalCategory == .control
        }
    }
}
