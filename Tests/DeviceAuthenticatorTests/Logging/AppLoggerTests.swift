import Foundation
import TestSupport
import Testing

@testable import DeviceAuthenticator

@Suite("Loggers of apps")
struct AppLoggerTests {
    /// The loggers of an authenticator to whose builder an app adds a logger of a type that DeviceAuthenticator does not know.
    private func loggers(adding logger: Any) throws -> [any DeviceAuthenticatorLogger] {
        let folder = TemporaryFolder()
        let app = ApplicationConfig(applicationName: "AcmeApp", applicationVersion: "3.0", applicationGroupId: "group.acme")
        let builder = DeviceAuthenticatorBuilder(applicationConfig: app).storageDirectory(folder.url)
            .keyStore(FileDeviceKeyStore(directory: folder.url, secretCost: 10)).addLogger(logger)
        return try #require(try builder.create() as? PushDevice).log.loggers
    }

    /// A logger that conforms in an extension, as a logger of another module does.
    final class ConformingLogger: Sendable {
        func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
        func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
        func warning(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        }
        func uiEvent(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        }
        func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
    }

    @Test("A logger of another module is called if its type conforms to the protocol in an empty extension")
    func conforming() throws {
        let logger = ConformingLogger()
        let added = try loggers(adding: logger)
        #expect(added.count == 1 && (added.first as? ConformingLogger) === logger)
    }

    @Test("A logger that cannot be called leaves the default logger in place")
    func unknown() throws {
        for logger: Any in [NSObject(), "a text", 7] {
            let added = try loggers(adding: logger)
            #expect(added.count == 1 && added.first is ConsoleLogger)
        }
    }

    #if canImport(ObjectiveC)
    /// A logger that conforms to nothing and that Objective-C can call.
    private final class ObjectiveCAppLogger: NSObject {
        let log = TestLog()

        @objc func info(
            eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String
        ) { log.info(eventName: eventName, message: message, properties: properties, file: file, line: line, funcName: funcName) }

        @objc func warning(
            eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String
        ) { log.warning(eventName: eventName, message: message, properties: properties, file: file, line: line, funcName: funcName) }
    }

    @Test("A logger of another module is called if its functions are visible in Objective-C")
    func objectiveC() throws {
        let logger = ObjectiveCAppLogger()
        let added = try #require(try loggers(adding: logger).first as? ObjectiveCLogger)
        added.info(eventName: "a", message: "b", properties: ["c": 1], file: "file", line: 1, funcName: "f")
        added.warning(eventName: "d", message: nil, properties: nil, file: "file", line: 1, funcName: "f")
        added.error(eventName: "e", message: nil, properties: nil, file: "file", line: 1, funcName: "f")
        #expect(logger.log.text == "a: b\nd: ")
    }
    #endif
}

extension AppLoggerTests.ConformingLogger: DeviceAuthenticatorLogger {}
