internal import Delivery
internal import Foundation
package import IdentityCore
public import JOSE
public import Logging
internal import NIOPosix
internal import OAuthEndpoints
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
public struct OrganizationServer: Service, Redacted {
    package let parts: ServerParts
    private let server: AuthorizationServer
    private let metrics: PrometheusMetrics?
    private let presence: ServerPresence
    private let stop: @Sendable () async -> Void

    /// Reads the org file and the settings, and opens the database. The server does not listen yet.
    /// - Parameters:
    ///   - organization: The path of the org file.
    ///   - settings: Settings by the option names of `countersign serve`, such as `port` and `data`. They override the environment and the
    ///     section `server` of the org file.
    ///   - environment: The `COUNTERSIGN_…` settings, and the values of `${NAME}` in the org file.
    ///   - logger: The logger of requests and events; its level is not changed. `nil` logs to standard error at the configured level.
    /// - Throws: ``OrgFileError`` with all problems of the org file; ``ConfigurationError`` for a setting or a certificate; ``PortError``
    ///   for a port that is in use; a store error if the database cannot be opened.
    public init(
        organization: String, settings: [String: String] = [:], environment: [String: String] = [:], logger: Logger? = nil
    ) async throws {
        try await self.init(organization: organization, settings: settings, environment: environment, logger: logger, portFlag: nil)
    }

    /// Creates the server of the command line. `portFlag` is the option that port errors name, and `metrics` is the backend that this
    /// process has bootstrapped.
    package init(
        organization: String, settings: [String: String], environment: [String: String], logger: Logger? = nil, portFlag: String?,
        metrics: PrometheusMetrics? = nil
    ) async throws {
        self.metrics = metrics
        parts = try await ServerParts(
            organization: organization, settings: settings, environment: environment, logger: logger, waits: true
        ) {
            var port = $0.portUse
            port.flag = portFlag
            guard metrics != nil || $0.metricsPort == nil else {
                throw ConfigurationError(
                    key: "metrics-port",
                    message: "Only countersign serve has this endpoint. In an app, bootstrap a backend of swift-metrics.")
            }
            try await PortUse.check([port, $0.metricsUse].compactMap(\.self))
            try $0.checkTLS()
        }
        presence = try ServerPresence(engine: parts.engine, clock: SystemWallClock(), logger: parts.logger)
        // The senders connect at the first message.
        let pushes = try APNsSender(logger: parts.logger)
        let logouts = HTTPLogoutSender(logger: parts.logger)
        let messages = try parts.messages.makeSender(origin: parts.organization.origin, logger: parts.logger)
        server = AuthorizationServer(
            engine: parts.engine, configuration: parts.configuration, logger: parts.logger, pushSender: pushes, logoutSender: logouts,
            messageSender: messages.sender, isPrepared: false)
        stop = {
            await pushes.shutdown()
            await logouts.shutdown()
            await messages.shutdown()
        }
    }

    /// Applies the org file, creates missing keys, and responds to requests until the task is cancelled or the service group shuts down
    /// gracefully. Call it once per server. Applying the file writes only the entries that differ.
    /// - Throws: ``PortError`` if the port cannot be bound; a store error; an error for a new password that is known from a data breach.
    public func run() async throws {
        do {
            if parts.storeCheck == nil { try await prepare(parts.file) }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await server.run()
                    return true
                }
                if let metrics, let port = parts.configuration.metricsUse {
                    metrics.observe { [server] in ServerGauges.samples(of: parts.engine, heldPolls: server.polls?.count ?? 0) }
                    group.addTask {
                        try await MetricsEndpoint(metrics: metrics, port: port, logger: parts.logger).run()
                        return false
                    }
                }
                group.addTask {
                    await presence.keep()
                    return false
                }
                // The server answers 503 until the database can be reached.
                if let check = parts.storeCheck {
                    group.addTask {
                        try await prepare(after: check)
                        return false
                    }
                }
                // The end of the server ends the other tasks; an error of any task ends all.
                while let isOver = try await group.next(), !isOver {}
                group.cancelAll()
            }
        } catch {
            await presence.end()
            await stop()
            throw error
        }
        await presence.end()
        await stop()
        try await parts.store.close()
    }

    /// Reports to load balancers that the server is not ready, and waits for the setting `shutdown-delay`. Call it before the graceful
    /// shutdown.
    package func drain() async { await server.drain() }

    /// The port on which the server listens; waits until the port is bound. Throws the error of ``run()``, or `CancellationError`.
    public var boundPort: Int {
        get async throws { try await server.boundPort }
    }

    /// Reads the certificate and the org file again, and applies the file. If the file is invalid, the log names its problems, and the
    /// server continues with the previous configuration. If a section that is read only at start has changed, the log says that a restart
    /// is necessary. A server that is still being prepared applies the file again afterwards.
    package func reload() async {
        await server.reloadCertificate()
        guard server.readiness.mayReload() else { return }
        do {
            try await apply(try await readAgain(), "reload")
            await makeKeys()
        } catch {
            parts.logger.error("the org file was not applied", metadata: ["error": .string("\(error)")])
        }
    }

    /// Creates the keys of algorithms that the organization did not use before. An error is only logged, because the configuration is
    /// already in use.
    private func makeKeys() async {
        do { try await parts.engine.maintainKeys(parts.context("reload")) } catch {
            parts.logger.error(
                "the org file was applied, but new signing keys were not made; the next maintenance tries again",
                metadata: ["error": .string("\(error)")])
        }
    }

    private func readAgain() async throws -> OrgFile {
        let file = try await parts.readAgain()
        guard file.organization.origin == parts.organization.origin else {
            throw ConfigurationError(key: "origin", message: "The origin changed. Restart the server to use it.")
        }
        return file
    }

    private func apply(_ file: OrgFile, _ request: String) async throws {
        let report = try await parts.engine.apply(file.organization, context: parts.context(request))
        for line in report.description.split(separator: "\n") { parts.logger.notice("organization: \(line)") }
        for warning in file.warnings { parts.logger.warning("organization: \(parts.path):\(warning)") }
        if !file.sharesStartSections(with: parts.file) {
            parts.logger.warning(
                "organization: server, branding, messages and breached_passwords are read at start. Restart the server to use the changes.")
        }
    }

    /// Prepares the server as soon as the database can be reached. Throws other errors, such as missing tables.
    private func prepare(after check: @Sendable () async throws -> Void) async throws {
        parts.logger.error("The database cannot be reached. Requests are answered with status 503 until it can.")
        while true {
            do {
                try await check()
                return try await prepare(currentFile())
            } catch let error as StoreError where error.code == .unreachable {
                parts.logger.error("waiting for the database", metadata: ["error": .string("\(error)")])
                try await SystemWallClock().sleep(for: .seconds(2))
            }
        }
    }

    /// Returns the current org file, because hours may have passed since the start; the file of the start if the current one is unusable.
    private func currentFile() async -> OrgFile {
        do { return try await readAgain() } catch {
            parts.logger.error("the org file as it was at start is applied", metadata: ["error": .string("\(error)")])
            return parts.file
        }
    }

    /// Applies the file and creates missing keys, without which the server cannot sign tokens. After that, the server responds to requests.
    private func prepare(_ file: OrgFile) async throws {
        if let (text, isWarning) = parts.messages.announcement(for: parts.organization) {
            parts.logger.log(level: isWarning ? .warning : .notice, "messages: \(text)")
        }
        try await apply(file, "start")
        try await parts.engine.maintainKeys(parts.context("start"))
        try await presence.begin()
        while !server.readiness.setPrepared() {
            try await apply(await currentFile(), "reload")
            try await parts.engine.maintainKeys(parts.context("reload"))
        }
    }
}

/// The parts of a server. Redacted, because the parts contain the environment, and a service group logs its services.
package struct ServerParts: Sendable, Redacted {
    /// The org file as it was read at start.
    package let file: OrgFile
    let path: String
    private let variables: [String: String]
    package let configuration: AuthorizationServer.Configuration
    package let store: any Store
    /// The check that must succeed before the first use of the store; `nil` if the database was already reached.
    let storeCheck: (@Sendable () async throws -> Void)?
    package let engine: Engine
    package let logger: Logger

    /// Reads the settings, and opens nothing.
    package static func configuration(
        organization path: String, settings: [String: String], environment: [String: String]
    ) throws -> AuthorizationServer.Configuration {
        let file = try OrgFile.load(path: path, environment: environment)
        return try AuthorizationServer.Configuration(commandLine: settings, environment: environment, file: file.server)
    }

    /// Reads the org file and the settings, opens the store and creates the engine. Does not change stored records. `check` validates the
    /// settings before any file is created. With `waits`, a database that cannot be reached is not an error; see ``storeCheck``.
    package init(
        organization path: String, settings: [String: String], environment: [String: String], logger: Logger? = nil,
        waits: Bool = false, checking check: (AuthorizationServer.Configuration) async throws -> Void = { _ in }
    ) async throws {
        let read = try OrgFile.load(path: path, environment: environment)
        var configuration = try AuthorizationServer.Configuration(commandLine: settings, environment: environment, file: read.server)
        let file = try configuration.publicOrigin.map { try OrgFile.load(path: path, environment: environment, origin: $0) } ?? read
        configuration.branding = file.branding
        try await check(configuration)
        var standard = Logger(label: "countersign") { [logsJSON = configuration.logsJSON] label -> any LogHandler in
            logsJSON ? JSONLogHandler(label: label) : StreamLogHandler.standardError(label: label)
        }
        standard.logLevel = Logger.Level(rawValue: configuration.logLevel) ?? .info
        self.logger = logger ?? standard
        let masterKeys = try configuration.loadMasterKeys()
        let opened = try await StoreSettings.open(configuration, waits: waits)
        (store, storeCheck) = (ObservedStore(opened.store), opened.check)
        let breachedPasswords = try file.breachedPasswords.makeCheck(logger: self.logger).map { BreachedPasswordLists($0) }
        engine = Engine(
            store: store,
            environment: EngineEnvironment(
                random: SystemRandomSource(), masterKeys: masterKeys, passwordHasher: PasswordHasher(width: configuration.hashingWidth),
                breachedPasswords: breachedPasswords))
        (self.file, self.path, variables) = (file, path, environment)
        self.configuration = configuration
    }

    package var organization: OrganizationDefinition { file.organization }
    package var messages: MessageSettings { file.messages }

    /// Reads the org file again, with the environment of the start, on a thread for blocking work.
    func readAgain() async throws -> OrgFile {
        try await NIOThreadPool.singleton.runIfActive { [path, variables, origin = configuration.publicOrigin] in
            try OrgFile.load(path: path, environment: variables, origin: origin)
        }
    }

    /// Returns a context for work that no HTTP request causes.
    /// - Parameter administrator: The name that the system log records; `nil` for the server's own work.
    package func context(_ id: String, administrator: String? = nil) -> RequestContext {
        var context = RequestContext(now: SystemWallClock().now, requestID: id)
        context.administrator = administrator
        return context
    }
}
