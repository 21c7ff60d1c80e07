import ArgumentParser
import AuthorizationServer
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// The command-line settings of `serve` and `keys`.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The org file.", valueName: "file"))
    var config = "org.yaml"

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

    @Option(name: .customLong("master-key-file"), help: ArgumentHelp("A file with the master key: 32 bytes in base64.", valueName: "file"))
    var masterKeyFile: String?

    @Option(
        name: .customLong("log-level"), help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    private var commandLine: [String: String] {
        let values = [
            "data": data, "database": database, "database-password-file": databasePasswordFile, "host": host, "port": port,
            "public-origin": publicOrigin, "tls-certificate": tlsCertificate, "tls-key": tlsKey,
            "master-key-file": masterKeyFile, "log-level": logLevel,
        ]
        return values.compactMapValues { $0 }
    }

    /// Reads the settings of the org file, the environment and the command line.
    func settings() throws -> AuthorizationServer.Configuration {
        try ServerParts.configuration(organization: config, settings: commandLine, environment: ProcessInfo.processInfo.environment)
    }

    /// Opens the store of a server that was started before, without listening. Never creates a database, so that a wrong folder is an error.
    /// Throws ``CommandFailure`` without an org file or a database, and errors of the org file, the settings or the store.
    func assemble() async throws -> ServerParts {
        guard FileManager.default.fileExists(atPath: config) else {
            throw CommandFailure("There is no org file \(config). Name the server's with --config, as for countersign serve.")
        }
        let settings = try settings()
        guard settings.database != nil || FileManager.default.fileExists(atPath: settings.storePath) else {
            throw CommandFailure(
                "There is no database \(settings.storePath). Name the server's folder with --data, as for countersign serve.")
        }
        return try await ServerParts(organization: config, settings: commandLine, environment: ProcessInfo.processInfo.environment)
    }

    /// Creates the server, which does not listen yet. Throws errors of the org file, the settings, the port or the store.
    func server() async throws -> OrganizationServer {
        try await OrganizationServer(
            organization: config, settings: commandLine, environment: ProcessInfo.processInfo.environment, portFlag: "--port")
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
            The org file is applied at start: what changed is told, and sessions, grants and enrolments stay. Each setting can also be
            given in the environment, as COUNTERSIGN_ and its name in capitals, or in the org file's section `server`.
            SIGTERM and SIGINT end it after the requests under way.
            """)

    @OptionGroup var options: ServerOptions

    func run() async throws {
        try await Outcome.of {
            let server = try await options.server()
            let parts = server.parts
            let announcement = Task {
                let port = try await server.boundPort
                parts.logger.notice("listening", metadata: ["host": .string(parts.configuration.host), "port": .stringConvertible(port)])
            }
            defer { announcement.cancel() }
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: parts.logger))
            try await group.run()
        }
    }
}
