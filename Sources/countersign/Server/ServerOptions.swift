import ArgumentParser
import AuthorizationServer
import Foundation
import Logging
import Metrics
import ServiceLifecycle
import UnixSignals

/// The command-line settings of a server, for `serve` and for the commands that work on a server's store.
struct ServerOptions: ParsableArguments {
    /// The name of the org file without the option `--config`.
    private static let standardConfig = "org.yaml"

    @Option(help: ArgumentHelp("The org file.", valueName: "file"))
    var config = ServerOptions.standardConfig

    @Option(help: ArgumentHelp("The folder of the database and the master key.", valueName: "folder"))
    var data: String?

    @Option(help: ArgumentHelp("A PostgreSQL database, instead of SQLite: postgres://user@host/name", valueName: "url"))
    var database: String?

    @Option(
        name: .customLong("database-password-file"), help: ArgumentHelp("A file with the password of the database.", valueName: "file"))
    var databasePasswordFile: String?

    @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
    var host: String?

    @Option(help: ArgumentHelp("The port to listen on; 0 selects a free port.", valueName: "port"))
    var port: String?

    @Option(
        name: .customLong("public-origin"),
        help: ArgumentHelp("The origin that clients use, if it differs from the org file's.", valueName: "url"))
    var publicOrigin: String?

    @Option(name: .customLong("tls-certificate"), help: ArgumentHelp("The certificate chain in PEM.", valueName: "file"))
    var tlsCertificate: String?

    @Option(name: .customLong("tls-key"), help: ArgumentHelp("The certificate's private key in PEM.", valueName: "file"))
    var tlsKey: String?

    @Option(
        name: .customLong("master-key-file"),
        help: ArgumentHelp("A file with the master key: 32 bytes in base64. During a rotation, a line for each key.", valueName: "file"))
    var masterKeyFile: String?

    @Option(
        name: .customLong("log-level"), help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    @Option(name: .customLong("log-format"), help: ArgumentHelp("text or json.", valueName: "format"))
    var logFormat: String?

    @Option(
        name: .customLong("metrics-port"),
        help: ArgumentHelp("The port of the Prometheus metrics, on the loopback interface.", valueName: "port"))
    var metricsPort: String?

    private var commandLine: [String: String] {
        let values = [
            "data": data, "database": database, "database-password-file": databasePasswordFile, "host": host, "port": port,
            "public-origin": publicOrigin, "tls-certificate": tlsCertificate, "tls-key": tlsKey,
            "master-key-file": masterKeyFile, "log-level": logLevel, "log-format": logFormat, "metrics-port": metricsPort,
        ]
        return values.compactMapValues { $0 }
    }

    /// Returns the settings of the org file, the environment and the command line.
    func settings() throws -> AuthorizationServer.Configuration {
        try ServerParts.configuration(organization: config, settings: commandLine, environment: ProcessInfo.processInfo.environment)
    }

    /// Opens the store of a server without listening. The server must have been started before: the function never creates a database, so
    /// that a wrong folder is an error. Throws ``CommandFailure`` without an org file or a database, and errors of the org file, the
    /// settings or the store.
    func assemble() async throws -> ServerParts {
        guard FileManager.default.fileExists(atPath: config) else {
            throw CommandFailure("There is no org file \(config). Name the server's org file with --config, as for countersign serve.")
        }
        try requireDatabase(try settings())
        return try await ServerParts(organization: config, settings: commandLine, environment: ProcessInfo.processInfo.environment)
    }

    /// Opens the store of a server that was started before, for a command on the stored configuration. The org file can be missing; only
    /// its section `server` is read. Never creates a database. Throws ``CommandFailure`` without a database, and errors of the settings or
    /// the store.
    func storedServer() async throws -> StoredServer {
        let exists = FileManager.default.fileExists(atPath: config)
        guard exists || config == Self.standardConfig else {
            throw CommandFailure("There is no org file \(config). Leave out --config, and name the data folder with --data.")
        }
        let settings = try AuthorizationServer.Configuration(
            commandLine: commandLine, environment: ProcessInfo.processInfo.environment,
            file: exists ? try OrgFile.serverSettings(path: config) : [:])
        try requireDatabase(settings)
        return try await StoredServer(settings)
    }

    private func requireDatabase(_ settings: AuthorizationServer.Configuration) throws {
        guard settings.database != nil || FileManager.default.fileExists(atPath: settings.storePath) else {
            throw CommandFailure(
                "There is no database \(settings.storePath). Name the server's data folder with --data, as for countersign serve.")
        }
    }

    /// Creates the server, which does not listen yet. Throws errors of the org file, the settings, the port or the store.
    func server() async throws -> OrganizationServer {
        var metrics: PrometheusMetrics?
        if try settings().metricsPort != nil {
            let backend = PrometheusMetrics()
            // This must precede the first counter, because a counter never changes its backend.
            MetricsSystem.bootstrap(backend)
            metrics = backend
        }
        return try await OrganizationServer(
            organization: config, settings: commandLine, environment: ProcessInfo.processInfo.environment, portFlag: "--port",
            metrics: metrics)
    }
}

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write an org file with comments as a starting point.",
        discussion: "An existing file is never overwritten.")

    @Argument(help: "The file to write.")
    var file = "org.yaml"

    func run() async throws {
        try await Outcome.of {
            do {
                try Data(OrgFile.template.utf8).write(to: URL(filePath: file), options: .withoutOverwriting)
            } catch let error as CocoaError where error.code == .fileWriteFileExists {
                throw CommandFailure("\(file) already exists and was not changed. Name another file.")
            }
            Terminal.write("Wrote \(file). Edit it, then: countersign serve --config \(file) --data data")
        }
    }
}

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the authorization server.",
        discussion: """
            The org file is applied at start: what changed is told, and sessions, grants and enrollments stay. Each setting can also be
            given in the environment, as COUNTERSIGN_ and its name in capitals, or in the org file's section `server`.
            After SIGTERM or SIGINT it reports to load balancers that it is not ready, serves for the seconds of the setting `shutdown-delay` \
            (0 by default), and completes the requests under way. A second signal skips the delay. After SIGHUP, except in a terminal, it \
            reads the certificate and the org file again.
            """)

    @OptionGroup var options: ServerOptions

    func run() async throws {
        try await Outcome.of {
            let server = try await options.server()
            let parts = server.parts
            let announcement = Task {
                let port = try await server.boundPort
                ServiceNotification.send(ServiceNotification.ready)
                parts.logger.notice("listening", metadata: ["host": .string(parts.configuration.host), "port": .stringConvertible(port)])
            }
            defer { announcement.cancel() }
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(services: [server], gracefulShutdownSignals: [], logger: parts.logger))
            let stop = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            let signals = Task {
                var draining: Task<Void, Never>?
                for await _ in stop {
                    if let draining {
                        draining.cancel()
                    } else {
                        ServiceNotification.send(ServiceNotification.stopping)
                        draining = Task {
                            await server.drain()
                            await group.triggerGracefulShutdown()
                        }
                    }
                }
            }
            // In a terminal, SIGHUP ends the server, as closing the terminal should.
            let reloads = isatty(STDIN_FILENO) == 1 ? nil : await UnixSignalsSequence(trapping: .sighup)
            let reloading = Task { if let reloads { for await _ in reloads { await server.reload() } } }
            defer {
                signals.cancel()
                reloading.cancel()
            }
            try await group.run()
        }
    }
}
