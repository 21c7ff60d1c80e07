internal import Delivery
internal import Foundation
package import IdentityCore
public import Logging
internal import ServerHTTP
public import ServiceLifecycle
package import Store
internal import StorePostgreSQL
internal import StoreSQLite

/// The server of one organization with its database; `countersign serve` runs it. Safe from any task.
///
/// ```swift
/// let server = try await OrganizationServer(organization: "org.yaml", settings: ["port": "8080"], logger: logger)
/// async let running: Void = server.run()
/// let port = try await server.boundPort
/// ```
public struct OrganizationServer: Service {
    package let parts: ServerParts
    private let server: AuthorizationServer
    private let stop: @Sendable () async -> Void

    /// Reads the org file and the settings, and opens the database. The server does not listen yet.
    /// - Parameters:
    ///   - organization: The path of the org file.
    ///   - settings: Settings by the option names of `countersign serve`, such as `port` and `data`. They override the environment and the
    ///     section `server` of the org file.
    ///   - environment: `COUNTERSIGN_…` settings, and the values of `${NAME}` in the org file.
    ///   - logger: The logger of requests and events; its level is not changed. `nil` logs to standard error at the configured level.
    /// - Throws: ``OrgFileError`` with all problems of the org file; ``ConfigurationError`` for a setting or a certificate; ``PortError``
    ///   for a port that is in use; a store error if the database cannot be opened.
    public init(
        organization: String, settings: [String: String] = [:], environment: [String: String] = [:], logger: Logger? = nil
    ) async throws {
        try await self.init(organization: organization, settings: settings, environment: environment, logger: logger, portFlag: nil)
    }

    /// Variant for the command line: `portFlag` is the option that port errors name.
    package init(
        organization: String, settings: [String: String], environment: [String: String], logger: Logger? = nil, portFlag: String?
    ) async throws {
        parts = try await ServerParts(organization: organization, settings: settings, environment: environment, logger: logger) {
            var port = $0.portUse
            port.flag = portFlag
            try await PortUse.check([port])
            try $0.checkTLS()
        }
        // The senders connect at the first message.
        let pushes = try APNsSender(logger: parts.logger)
        let logouts = HTTPLogoutSender(logger: parts.logger)
        let messages = try parts.messages.makeSender(origin: parts.organization.origin, logger: parts.logger)
        server = AuthorizationServer(
            engine: parts.engine, configuration: parts.configuration, logger: parts.logger, pushSender: pushes, logoutSender: logouts,
            messageSender: messages.sender)
        stop = {
            await pushes.shutdown()
            await logouts.shutdown()
            await messages.shutdown()
        }
    }

    /// Applies the org file, creates missing keys, and responds to requests until the task is cancelled or the service group shuts down
    /// gracefully. Call it once per server. Applying the file changes only what differs; sessions, grants and enrollments are kept.
    /// - Throws: ``PortError`` if the port cannot be bound; a store error.
    public func run() async throws {
        do {
            try await prepare()
            try await server.run()
        } catch {
            await stop()
            throw error
        }
        await stop()
        try await parts.store.close()
    }

    /// The port that the server listens on; waits until the port is bound. Throws the error of ``run()``, or `CancellationError`.
    public var boundPort: Int {
        get async throws { try await server.boundPort }
    }

    private func prepare() async throws {
        let report = try await parts.engine.apply(parts.organization, context: parts.context("start"))
        for line in report.description.split(separator: "\n") { parts.logger.notice("organization: \(line)") }
        for warning in parts.warnings { parts.logger.warning("organization: \(warning)") }
        if let (text, isWarning) = parts.messages.announcement(for: parts.organization) {
            parts.logger.log(level: isWarning ? .warning : .notice, "messages: \(text)")
        }
        // Before the first request: without a key, the server cannot sign tokens.
        try await parts.engine.maintainKeys(parts.context("start"))
    }
}

package struct ServerParts: Sendable {
    package let organization: OrganizationDefinition
    /// Probably unintended settings in the org file, each with its place.
    package let warnings: [String]
    package let messages: MessageSettings
    package let configuration: AuthorizationServer.Configuration
    package let store: any Store
    package let engine: Engine
    package let logger: Logger

    /// Reads the settings only.
    package static func configuration(
        organization path: String, settings: [String: String], environment: [String: String]
    ) throws -> AuthorizationServer.Configuration {
        let file = try OrgFile.load(path: path, environment: environment)
        return try AuthorizationServer.Configuration(commandLine: settings, environment: environment, file: file.server)
    }

    /// Reads the org file and the settings, opens the store and creates the engine. Stored records do not change. `check` validates the
    /// settings before any file is created.
    package init(
        organization path: String, settings: [String: String], environment: [String: String], logger: Logger? = nil,
        checking check: (AuthorizationServer.Configuration) async throws -> Void = { _ in }
    ) async throws {
        let read = try OrgFile.load(path: path, environment: environment)
        var configuration = try AuthorizationServer.Configuration(commandLine: settings, environment: environment, file: read.server)
        let file = try configuration.publicOrigin.map { try OrgFile.load(path: path, environment: environment, origin: $0) } ?? read
        configuration.branding = file.branding
        try await check(configuration)
        var standard = Logger(label: "countersign") { StreamLogHandler.standardError(label: $0) }
        standard.logLevel = Logger.Level(rawValue: configuration.logLevel) ?? .info
        self.logger = logger ?? standard
        let masterKey = try configuration.loadMasterKey()
        store = try await StoreSettings.open(configuration)
        let breachedPasswords = try file.breachedPasswords.makeCheck(logger: self.logger).map { BreachedPasswordLists($0) }
        engine = Engine(
            store: store,
            environment: EngineEnvironment(
                random: SystemRandomSource(), masterKey: masterKey, passwordHasher: PasswordHasher(width: configuration.hashingWidth),
                breachedPasswords: breachedPasswords))
        (organization, warnings, messages) = (file.organization, file.warnings.map { "\(path):\($0)" }, file.messages)
        self.configuration = configuration
    }

    /// Returns a context for work that no HTTP request causes.
    /// - Parameter administrator: The name that the system log records; `nil` for the server's own work.
    package func context(_ id: String, administrator: String? = nil) -> RequestContext {
        var context = RequestContext(now: SystemWallClock().now, requestID: id)
        context.administrator = administrator
        return context
    }
}
