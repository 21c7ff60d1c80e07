import ArgumentParser
import AuthorizationServer
import Delivery
import IdentityEngine
import Logging
import ServiceLifecycle
import StoreSQLite
import UnixSignals

/// Runs the authorization server.
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
            let parts = try await options.assemble { configuration in
                var port = configuration.portUse
                port.flag = "--port"
                try await PortUse.check([port])
                try configuration.checkTLS()
            }
            let report = try await parts.engine.apply(parts.organization, context: parts.context("start"))
            for line in report.description.split(separator: "\n") { parts.logger.notice("organization: \(line)") }
            for warning in parts.warnings { parts.logger.warning("organization: \(warning)") }
            if let (text, isWarning) = parts.messages.announcement(for: parts.organization) {
                parts.logger.log(level: isWarning ? .warning : .notice, "messages: \(text)")
            }
            // Before the first request: a server without a key can sign nothing.
            try await parts.engine.maintainKeys(parts.context("start"))
            // Connects only when there is something to send.
            let sender = try APNsSender(logger: parts.logger)
            let logoutSender = HTTPLogoutSender(logger: parts.logger)
            let messages = try parts.messages.makeSender(origin: parts.organization.origin, logger: parts.logger)
            let server = AuthorizationServer(
                engine: parts.engine, configuration: parts.configuration, logger: parts.logger, pushSender: sender,
                logoutSender: logoutSender, messageSender: messages.sender)
            let announcement = Task {
                let port = try await server.boundPort
                parts.logger.notice("listening", metadata: ["host": .string(parts.configuration.host), "port": .stringConvertible(port)])
            }
            defer { announcement.cancel() }
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: parts.logger))
            do {
                try await group.run()
            } catch {
                await sender.shutdown()
                await logoutSender.shutdown()
                await messages.shutdown()
                throw error
            }
            await sender.shutdown()
            await logoutSender.shutdown()
            await messages.shutdown()
            try await parts.store.close()
        }
    }
}
