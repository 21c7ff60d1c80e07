internal import Foundation
internal import JOSE
package import Logging
internal import NIOCore
internal import NIOPosix
package import NIOSSL

/// Sends mails by SMTP, encrypted and optionally authenticated.
///
/// ```swift
/// let settings = try SMTPConfiguration(host: "mail.example.com", credentials: .init(user: "id", password: password),
///     sender: MailSender(address: "no-reply@example.com", name: "Example"))
/// let outcome = await SMTPSender(settings, logger: logger).send(.mail(mail))
/// ```
/// Each attempt has its own connection. If the reply to a sent mail is lost, the mail is not sent again, so that it never arrives twice.
/// Safe from any task.
package final class SMTPSender: MessageSender, Redacted {
    private let configuration: SMTPConfiguration
    private let timing: PushTiming
    private let logger: Logger

    /// Creates a sender, which connects at the first mail. The logger never receives an address or content.
    package init(_ configuration: SMTPConfiguration, timing: PushTiming = .system, logger: Logger) {
        (self.configuration, self.timing, self.logger) = (configuration, timing, logger)
    }

    /// Sends one mail, and refuses texts and calls. Retries after connection errors and temporary refusals.
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

package struct SMTPConfiguration: Sendable, Redacted {
    package enum Security: String, Sendable, Hashable {
        /// `STARTTLS` (port 587). A server without `STARTTLS` receives no mail.
        case startTLS
        /// TLS from the first byte (port 465).
        case implicitTLS
        /// No encryption; allowed on this machine only.
        case insecureOnThisMachine
    }

    package struct Credentials: Sendable, Redacted {
        package var user: String
        package var password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        /// Shows the user name, never the password.
        package var description: String { "Credentials(\(user))" }
    }

    package var host: String
    package var port: Int
    package var security: Security
    /// The credentials of this client; `nil` for a server without authentication.
    package var credentials: Credentials?
    package var sender: MailSender
    /// The client's name in `EHLO`: letters, digits, dots and hyphens; by default the domain of the sender.
    package var clientName: String
    /// The trusted roots for the server's certificate.
    package var trust: NIOSSLTrustRoots
    package var timeout: Duration
    package var retry: RetryPolicy

    /// Creates a configuration.
    /// - Parameters:
    ///   - host: The host name or IP address; with TLS, it must match the server's certificate.
    ///   - port: By default 587, or 465 with ``Security/implicitTLS``.
    ///   - timeout: The timeout of one attempt.
    ///   - retry: The retries; by default 5 attempts with pauses of 15 to 30 seconds in total.
    /// - Throws: ``MessageConfigurationError`` if the client name is invalid, or if the host of an unencrypted connection is another
    ///   machine.
    package init(
        host: String, port: Int? = nil, security: Security = .startTLS, credentials: Credentials? = nil, sender: MailSender,
        clientName: String? = nil, trust: NIOSSLTrustRoots = .default, timeout: Duration = .seconds(30),
        retry: RetryPolicy = RetryPolicy(base: .seconds(2), cap: .seconds(30), attempts: 5)
    ) throws(MessageConfigurationError) {
        if security == .insecureOnThisMachine, !["localhost", "127.0.0.1", "::1"].contains(host) {
            throw MessageConfigurationError("Mail goes to \(host) unencrypted only if that is this machine. Use STARTTLS or TLS.")
        }
        let name = clientName ?? sender.domain
        guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw MessageConfigurationError("The EHLO name may contain only letters, digits, dots and hyphens.")
        }
        self.host = host
        self.port = port ?? (security == .implicitTLS ? 465 : 587)
        (self.security, self.credentials, self.sender) = (security, credentials, sender)
        self.clientName = name
        (self.trust, self.timeout, self.retry) = (trust, timeout, retry)
    }
}
