import ArgumentParser
import AuthorizationServer
import CountersignSandbox
import Foundation
internal import IdentityCore
import Logging

struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox", abstract: "Run a complete organization on this machine for development and tests.",
        discussion: """
            An authorization server, its apps, two people with a virtual phone each, and a resource server. Clients that insist on https \
            want --tls, and `countersign trust` once.
            """)

    @Flag(help: "Use TLS with a certificate of the sandbox's own authority.")
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
            "An org file for another organization, whose authorization server “default” is the issuer.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The folder of its state; by default the state is lost at the end.", valueName: "folder"))
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
            await SandboxText.showUntilStopped(sandbox)
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

/// The ports of a sandbox, with the flags that choose them.
enum SandboxPorts {
    /// Checks before the start that every port is free. Throws a `PortError` that names each used port, its purpose and its flag.
    static func check(server: Int, serverFlag: String = "--port", messages: Int, phones: Int) async throws {
        try await PortUse.check([
            PortUse(port: server, purpose: "authorization server", flag: serverFlag),
            PortUse(port: messages, purpose: "resource server", flag: "--messages-port"),
            PortUse(port: phones, purpose: "virtual phones", flag: "--phone-port"),
        ])
    }

    /// Checks the ports of the flags; `nil` stands for a flag that was not given. Throws a `ValidationError` that names the flag if a
    /// number is not a port.
    static func validate(_ ports: [(flag: String, port: Int?)]) throws {
        for (flag, port) in ports {
            guard let port, !(0...65_535).contains(port) else { continue }
            throw ValidationError("\(flag) must be a port from 1 to 65535, or 0 for a free port; it is \(port).")
        }
    }
}

enum SandboxText {
    /// Shows the overview and returns after Ctrl-C.
    static func showUntilStopped(_ sandbox: Sandbox) async {
        // Listening starts before the message, so that an immediate Ctrl-C is not missed.
        let request = await StopSignal.listen()
        Terminal.write(overview(sandbox))
        Terminal.write("Press Ctrl-C to stop.")
        await request.signalOrCancellation()
    }

    static func overview(_ sandbox: Sandbox) -> TerminalText {
        var lines: [TerminalText] = [
            "",
            Terminal.styled("The sandbox is up.", .bold),
            "  Front page   \(sandbox.origin.absoluteString)",
            "  Issuer       \(sandbox.issuer.absoluteString)",
            "  Discovery    \(sandbox.issuer.absoluteString)/.well-known/openid-configuration",
            "  Control API  \(sandbox.origin.absoluteString)/sandbox/ (the front page lists every call)",
        ]
        if let messages = sandbox.messagesURL { lines.append("  Messages     \(messages.absoluteString)/api/messages") }
        if let phone = sandbox.phoneURL { lines.append("  Phones       \(phone.absoluteString)") }
        let apps = sandbox.applications.map { $0.clientID + ($0.secret.map { " (secret \($0))" } ?? "") }
        lines.append("  Apps         \(apps.joined(separator: ", "))")
        let people = sandbox.users.map { user -> TerminalText in "\(user.login) / \(user.password ?? "no password")" }
        lines.append("  People       \(people.joined(separator: "\n               "))")
        if let authority = sandbox.authority {
            lines.append("  Authority    \(authority.certificateFile.path()) (`countersign trust` explains how to trust it)")
        }
        return "\(lines.joined(separator: "\n"))\n"
    }
}
