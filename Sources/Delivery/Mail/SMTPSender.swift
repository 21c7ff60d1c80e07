internal import Foundation
internal import JOSE
package import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Sends mails by SMTP, encrypted and optionally authenticated.
///
/// ```swift
/// let settings = try SMTPConfiguration(host: "mail.example.com", credentials: .init(user: "id", password: password),
///     sender: MailSender(address: "no-reply@example.com", name: "Example"))
/// let outcome = await SMTPSender(settings, logger: logger).send(.mail(mail))
/// ```
/// Each mail has its own connection. A mail is handed over at most once: if the reply to it is lost, it is not sent again. Safe from any
/// task.
package final class SMTPSender: MessageSender, Redacted {
    private let configuration: SMTPConfiguration
    private let timing: PushTiming
    private let logger: Logger

    /// Creates a sender; it connects at the first mail. The logger never receives an address or content.
    package init(_ configuration: SMTPConfiguration, timing: PushTiming = .system, logger: Logger) {
        (self.configuration, self.timing, self.logger) = (configuration, timing, logger)
    }

    /// Sends one mail, and refuses texts and calls. It retries connection errors and temporary refusals.
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
                // The future never fails: the handler completes it when the connection closes.
                (try? await ending.futureResult.get()) ?? .retry("cancelled")
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch {
            // Without a connection, only this line can complete the promise.
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
        // An IP address is not allowed as a TLS server name (RFC 6066 section 3).
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}
