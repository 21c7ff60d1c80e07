import ArgumentParser
import AuthorizationServer
import CountersignSandbox
import Foundation
import IdentityEngine
import Logging

/// Runs a sandbox.
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox", abstract: "Run a whole organization on this machine, to develop and test against.",
        discussion: """
            An authorization server, its apps, two people with a virtual phone each, and a resource server. Clients that insist on https \
            want --tls, and `countersign trust` once.
            """)

    @Flag(help: "Speak TLS, with a certificate of the sandbox's own authority.")
    var tls = false

    @Option(help: ArgumentHelp("The port without TLS.", valueName: "port"))
    var port = 8080

    @Option(name: .customLong("https-port"), help: ArgumentHelp("The port with TLS.", valueName: "port"))
    var httpsPort = 8443

    @Option(name: .customLong("messages-port"), help: ArgumentHelp("The port of the resource server.", valueName: "port"))
    var messagesPort = 8000

    @Option(name: .customLong("phone-port"), help: ArgumentHelp("The port of the virtual phones' page.", valueName: "port"))
    var phonePort = 8081

    @Option(
        help: ArgumentHelp(
            "An org file to run instead of the usual organization; its authorization server “default” is the issuer.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("A folder to keep its state in; without it, all is forgotten at the end.", valueName: "folder"))
    var data: String?

    @Flag(help: "Log every request.")
    var verbose = false

    func validate() throws {
        try SandboxPorts.validate([
            ("--port", port), ("--https-port", httpsPort), ("--messages-port", messagesPort), ("--phone-port", phonePort),
        ])
    }

    func run() async throws {
        try await Outcome.of {
            try await SandboxPorts.check(
                server: tls ? httpsPort : port, serverFlag: tls ? "--https-port" : "--port", messages: messagesPort, phones: phonePort)
            var logger: Logger?
            if verbose { logger = Logger(label: "countersign.sandbox") { StreamLogHandler.standardError(label: $0) } }
            var configuration = Sandbox.Configuration(
                listening: .port(tls ? httpsPort : port), host: "localhost", usesTLS: tls, messagesPort: messagesPort, phonePort: phonePort,
                folder: data.map { URL(filePath: $0, directoryHint: .isDirectory) }, logger: logger)
            configuration.organizationFile = try config.map(Self.organization)
            let sandbox = try await Sandbox.start(configuration)
            // Before it is said: who presses it at once shall find somebody who listens.
            let request = await StopSignal.listen()
            Terminal.write(SandboxText.overview(sandbox))
            Terminal.write("Press Ctrl-C to stop.")
            await request.wait()
            await sandbox.stop()
        }
    }

    private static func organization(at path: String) throws -> OrgFile {
        let file = try OrgFile.load(path: path, environment: ProcessInfo.processInfo.environment, hasTokenService: true)
        guard file.organization.authorizationServers.contains(where: { $0.id == "default" }) else {
            throw CommandFailure(
                "\(path) has no authorization server “default”, which is the sandbox's issuer. Add it to authorization_servers.")
        }
        return file
    }
}
