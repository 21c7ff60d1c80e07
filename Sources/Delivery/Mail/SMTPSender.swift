internal import Foundation
internal import JOSE
package import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Sends mails by SMTP: encrypted, with a name and a password if the server wants them.
///
/// ```swift
/// let settings = try SMTPConfiguration(host: "mail.example.com", credentials: .init(user: "id", password: password),
///     sender: MailSender(address: "no-reply@example.com", name: "Example"))
/// let outcome = await SMTPSender(settings, logger: logger).send(.mail(mail))
/// ```
///
/// Each mail has a connection of its own, which ends with it. A mail is handed over at most once: where the answer to it is lost, it is
/// not sent again. `Sendable`; safe from any task.
package final class SMTPSender: MessageSender, Redacted {
    private let configuration: SMTPConfiguration
    private let timing: PushTiming
    private let logger: Logger

    /// Makes a sender; it connects when there is something to send.
    ///
    /// - Parameters:
    ///   - configuration: The server, and how it knows us.
    ///   - timing: Time and chance; by default the system's.
    ///   - logger: Where it logs; never an address, or what a mail says.
    package init(_ configuration: SMTPConfiguration, timing: PushTiming = .system, logger: Logger) {
        self.configuration = configuration
        self.timing = timing
        self.logger = logger
    }

    /// Hands one mail over: tries again while the server cannot be reached, or says that it will take it later.
    ///
    /// - Parameter message: What to send, and to whom.
    /// - Returns: How it ended; a text or a call is refused.
    package func send(_ message: Message) async -> MessageOutcome {
        guard case .mail(let mail) = message else { return .refused(reason: "a mail server sends no texts") }
        return await RepeatedTries(retry: configuration.retry, timing: timing).run(until: mail.expiresAt) {
            guard let written = MailMessage(mail, from: configuration.sender, now: timing.now()) else {
                return .ended(.refused(reason: "the address is none that mail can be sent to"))
            }
            let exchange = SMTPExchange(
                configuration, sender: configuration.sender.address, recipient: mail.recipient, message: written.text)
            switch await perform(exchange) {
            case .accepted: return .ended(.delivered(id: mail.id))
            case .refused(let reason): return .ended(.refused(reason: reason))
            case .unanswered: return .ended(.gaveUp(reason: "the server did not say whether it took it"))
            case .retry(let reason):
                logger.info("mail is tried again", metadata: ["message": .string(mail.id), "reason": .string(reason)])
                return .retry(reason: reason, after: nil)
            }
        }
    }

    private func perform(_ exchange: SMTPExchange) async -> SMTPExchange.Ending {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let ending = loop.makePromise(of: SMTPExchange.Ending.self)
        let limit = TimeAmount(configuration.timeout)
        do {
            let context = try tls()
            let isImplicit = configuration.security == .implicitTLS
            let channel = try await ClientBootstrap(group: loop).connectTimeout(limit).channelInitializer {
                [host = configuration.host] channel in
                channel.eventLoop.makeCompletedFuture {
                    let makeTLS = { try Self.handler(context, host: host) }
                    if isImplicit { try channel.pipeline.syncOperations.addHandler(makeTLS()) }
                    try channel.pipeline.syncOperations.addHandler(
                        SMTPHandler(exchange, timeout: limit, ending: ending, makeTLS: makeTLS))
                }
            }.connect(host: configuration.host, port: configuration.port).get()
            return await withTaskCancellationHandler {
                // It always succeeds: a connection that ends says how far it came.
                (try? await ending.futureResult.get()) ?? .retry("cancelled")
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch {
            // Nobody else can complete it: there is no connection.
            ending.succeed(.retry("no connection"))
            return .retry(String("\(error)".prefix(200)))
        }
    }

    private func tls() throws -> NIOSSLContext {
        var settings = TLSConfiguration.makeClientConfiguration()
        settings.minimumTLSVersion = .tlsv12
        settings.trustRoots = configuration.trust
        return try NIOSSLContext(configuration: settings)
    }

    private static func handler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        // An address is no name that a certificate's server could be asked for (RFC 6066 section 3).
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}
