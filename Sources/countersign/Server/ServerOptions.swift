import ArgumentParser
import AuthorizationServer
import Foundation
import IdentityEngine
import Logging
import StoreSQLite

/// What `serve` and `keys` are told, and what comes of it.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The org file.", valueName: "file"))
    var config = "org.yaml"

    @Option(help: ArgumentHelp("The folder of the database and the master key.", valueName: "folder"))
    var data: String?

    @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
    var host: String?

    @Option(help: ArgumentHelp("The port to listen on; 0 takes a free one.", valueName: "port"))
    var port: String?

    @Option(
        name: .customLong("public-origin"),
        help: ArgumentHelp("What clients reach the server by, if not the org file's origin.", valueName: "url"))
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
            "data": data, "host": host, "port": port, "public-origin": publicOrigin, "tls-certificate": tlsCertificate, "tls-key": tlsKey,
            "master-key-file": masterKeyFile, "log-level": logLevel,
        ]
        return values.compactMapValues { $0 }
    }

    /// Reads the org file and the settings, opens the store and makes the engine, without changing anything in it.
    ///
    /// - Parameter check: Checks the settings before any file is created.
    /// - Returns: The parts of the server.
    /// - Throws: Errors of the check, the settings or the store.
    func assemble(_ check: (AuthorizationServer.Configuration) async throws -> Void = { _ in }) async throws -> ServerParts {
        let environment = ProcessInfo.processInfo.environment
        let read = try OrgFile.load(path: config, environment: environment)
        var configuration = try AuthorizationServer.Configuration(commandLine: commandLine, environment: environment, file: read.server)
        let file = try configuration.publicOrigin.map { try OrgFile.load(path: config, environment: environment, origin: $0) } ?? read
        configuration.branding = file.branding
        try await check(configuration)
        var logger = Logger(label: "countersign") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = Logger.Level(rawValue: configuration.logLevel) ?? .info
        let masterKey = try configuration.loadMasterKey()
        let store = try SQLiteStore(path: configuration.storePath)
        let breachedPasswords = try file.breachedPasswords.makeCheck(logger: logger).map { BreachedPasswordLists($0) }
        let engine = IdentityEngine(
            store: store,
            environment: EngineEnvironment(
                random: SystemRandomSource(), masterKey: masterKey, passwordHasher: PasswordHasher(width: configuration.hashingWidth),
                breachedPasswords: breachedPasswords))
        return ServerParts(
            organization: file.organization, warnings: file.warnings.map { "\(config):\($0)" }, messages: file.messages,
            configuration: configuration, store: store, engine: engine,
            logger: logger)
    }
}

/// What a server is put together from.
struct ServerParts {
    let organization: OrganizationDefinition
    /// What the org file most likely does not mean, each with its place.
    let warnings: [String]
    let messages: MessageSettings
    let configuration: AuthorizationServer.Configuration
    let store: SQLiteStore
    let engine: IdentityEngine
    let logger: Logger

    /// What the engine is told of a request that nobody made over HTTP.
    func context(_ id: String) -> RequestContext { RequestContext(now: SystemWallClock().now, requestID: id) }
}
