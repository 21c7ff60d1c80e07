#if canImport(ObjectiveC)
import Foundation

/// The functions of a logger in Objective-C. An object needs no conformance to have them.
@objc private protocol ObjectiveCLogging {
    @objc(debugWithEventName:message:properties:file:line:funcName:)
    optional func debug(
        _ event: AnyObject, _ message: AnyObject?, _ properties: AnyObject?, _ file: AnyObject, _ line: AnyObject, _ function: AnyObject)
    @objc(infoWithEventName:message:properties:file:line:funcName:)
    optional func info(
        _ event: AnyObject, _ message: AnyObject?, _ properties: AnyObject?, _ file: AnyObject, _ line: AnyObject, _ function: AnyObject)
    @objc(warningWithEventName:message:properties:file:line:funcName:)
    optional func warning(
        _ event: AnyObject, _ message: AnyObject?, _ properties: AnyObject?, _ file: AnyObject, _ line: AnyObject, _ function: AnyObject)
    @objc(uiEventWithEventName:message:properties:file:line:funcName:)
    optional func uiEvent(
        _ event: AnyObject, _ message: AnyObject?, _ properties: AnyObject?, _ file: AnyObject, _ line: AnyObject, _ function: AnyObject)
    @objc(errorWithEventName:message:properties:file:line:funcName:)
    optional func error(
        _ event: AnyObject, _ message: AnyObject?, _ properties: AnyObject?, _ file: AnyObject, _ line: AnyObject, _ function: AnyObject)
}

/// A logger of another module whose functions are visible in Objective-C.
struct ObjectiveCLogger: DeviceAuthenticatorLogger {
    // Safe because the object is never changed here, and its functions must be callable on any thread; see `addLogger(_:)`.
    private nonisolated(unsafe) let logger: any ObjectiveCLogging

    /// Returns `nil` if the object lacks the functions that an authenticator calls.
    init?(_ logger: Any) {
        // Each function is optional, so each call checks whether the object has it.
        let logger = unsafeBitCast(logger as AnyObject, to: (any ObjectiveCLogging).self)
        guard logger.info != nil, logger.warning != nil else { return nil }
        self.logger = logger
    }

    func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        logger.debug?(
            eventName as AnyObject, message as AnyObject?, properties as AnyObject?, file as AnyObject, line, funcName as AnyObject)
    }

    func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        logger.info?(
            eventName as AnyObject, message as AnyObject?, properties as AnyObject?, file as AnyObject, line, funcName as AnyObject)
    }

    func warning(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        logger.warning?(
            eventName as AnyObject, message as AnyObject?, properties as AnyObject?, file as AnyObject, line, funcName as AnyObject)
    }

    func uiEvent(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        logger.uiEvent?(
            eventName as AnyObject, message as AnyObject?, properties as AnyObject?, file as AnyObject, line, funcName as AnyObject)
    }

    func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        logger.error?(
            eventName as AnyObject, message as AnyObject?, properties as AnyObject?, file as AnyObject, line, funcName as AnyObject)
    }
}
#endif
