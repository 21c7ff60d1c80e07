internal import DeviceAuthenticator
internal import Foundation
internal import Logging

/// Brings what a phone's SDK logs to the sandbox's log.
struct PhoneLogger: OktaLoggerProtocol {
    let logger: Logger
    let login: String

    func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        write(.debug, eventName, message)
    }
    func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        write(.info, eventName, message)
    }
    func warning(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        write(.warning, eventName, message)
    }
    func uiEvent(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        write(.info, eventName, message)
    }
    func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        write(.error, eventName, message)
    }

    func write(_ level: Logger.Level, _ event: String, _ message: String?) {
        logger.log(level: level, "phone", metadata: ["phone": "\(login)", "event": "\(event)", "detail": "\(message ?? "")"])
    }
}
