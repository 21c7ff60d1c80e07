import DeviceAuthenticator
import Foundation
import LoggerCore

// An app that imports DeviceAuthenticator and the module of okta-logger-swift, whose names are the same. Both targets compile this file.

/// A logger of the app with the protocol of okta-logger-swift.
final class AppLogger: OktaLoggerProtocol {
    func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
}

/// A logger of the app with the protocol of DeviceAuthenticator.
struct OwnLogger: DeviceAuthenticatorLogger {
    func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
    func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
    func warning(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
    func uiEvent(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
    func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
}

func loggers(_ config: ApplicationConfig, _ logger: any OktaLoggerProtocol) throws -> any DeviceAuthenticatorProtocol {
    let level: OktaLoggerLogLevel = [.debug]
    let shared = OktaLogger(level: level)
    return try DeviceAuthenticatorBuilder(applicationConfig: config)
        .addLogger(shared).addLogger(logger).addLogger(AppLogger()).addLogger(OwnLogger()).create()
}
