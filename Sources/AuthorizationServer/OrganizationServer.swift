internal import Delivery
internal import Foundation
package import IdentityCore
public import Logging
internal import ServerHTTP
public import ServiceLifecycle
package import StoreSQLite

/// The server of one organization, with its SQLite database: what `countersign serve` runs.
///
/// ```swift
/// let server = try await OrganizationServer(organization: "org.yaml", settings: ["port": "8080"], logger: logger)
/// async let running: Void = server.run()
/// let port = try await server.boundPort
/// ```
///
/// Safe from any task.
public struct OrganizationServer: Service {
    package let parts: ServerParts
    private let server: AuthorizationServer
    private let stop: @Sendable () async -> Void

    /// Reads the org file and the settings, and opens the database. The server does not listen yet.
    ///
    /// - Parameters:
    ///   - organization: The path of the org file.
    ///   - settings: The settings by the names of the options of `countersign serve`, such as `port` and `data`. They take precedence over
    ///     the environment and over the section `server` of the org file.
    ///   - environment: The environment: `COUNTERSIGN_…` settings, and the values of `${NAME}` in the org file.
    ///   - logger: The logger of requests and events; its level is left as it is. `nil` logs to standard error at the configured level.
    /// - Throws: ``OrgFileError`` with all problems of the org file, ``ConfigurationError`` for a setting or a certificate, ``PortError`` for a
    ///   port that is in use; an error of the store if the database can't be opened.
    public init(
        organization: String, settings: [String: String] = [:], environment: [String: String] = [:], logger: Logger? = nil
    ) async throws {
        try await self.init(organization: organization, settings: settings, environment: environment, logger: logger, portFlag: nil)
    }

    /// The same for the command, whose errors name the option of the port.
    package init(
        organization: String, settings: [String: String], environment: [String: String], logger: Logger? = nil, portFlag: String?
    ) async throws {
        parts = try await ServerParts(organization: organization, settings: settings, environment: environment, logger: logger) {
            var port = $0.portUse
            port.flag = portFlag
            try await PortUse.check([port])
            try $0.checkTLS()
        }
        // The senders connect once there is something to send.
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

    /// Applies the org file, makes the keys that are missing, and answers requests until the task is cancelled or the service group shuts down
    /// gracefully. Once per server.
    ///
    /// Applying the file changes what differs; sessions, grants and enrolments stay.
    ///
    /// - Throws: ``PortError`` if the port can't be bound; an error of the store.
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

    /// The port that the server listens on; waits until it does.
    ///
    /// - Throws: The error of ``run()``, or `CancellationError`.
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
        // Before the first request: a server without a key can sign nothing.
        try await parts.engine.maintainKeys(parts.context("start"))
    }
}

/// The parts of a server.
package struct ServerParts: Sendable {
    package let organization: OrganizationDefinition
    /// What the org file most likely does not mean, each with its place.
    package let warnings: [String]
    package let messages: MessageSettings
    package let configuration: AuthorizationServer.Configuration
    package let store: SQLiteStore
    package let engine: Engine
    package let logger: Logger

    /// Reads the org file and the settings, opens the store and makes the engine, without changing anything in it.
    ///
    /// `check` checks the settings before any file is created. Throws errors of the check, the org file, the settings or the store.
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
        store = try SQLiteStore(path: configuration.storePath)
        let breachedPasswords = try file.breachedPasswords.makeCheck(logger: self.logger).map { BreachedPasswordLists($0) }
        engine = Engine(
            store: store,
            environment: EngineEnvironment(
                random: SystemRandomSource(), masterKey: masterKey, passwordHasher: PasswordHasher(width: configuration.hashingWidth),
                breachedPasswords: breachedPasswords))
        (organization, warnings, messages) = (file.organization, file.warnings.map { "\(path):\($0)" }, file.messages)
        self.configuration = configuration
    }

    /// The context of a request that does not come over HTTP.
    package func context(_ id: String) -> RequestContext { RequestContext(now: SystemWallClock().now, requestID: id) }
}
