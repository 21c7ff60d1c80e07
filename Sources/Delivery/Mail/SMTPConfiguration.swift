internal import JOSE
package import NIOSSL

/// The address and settings of a mail server.
package struct SMTPConfiguration: Sendable, Redacted {
    /// The encryption of the connection.
    package enum Security: String, Sendable, Hashable {
        /// `STARTTLS` (port 587). A server that does not offer it receives no mail.
        case startTLS
        /// TLS from the first byte (port 465).
        case implicitTLS
        /// No encryption; allowed on this machine only.
        case insecureOnThisMachine
    }

    /// The account on the mail server.
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

    /// The server's host name or IP address.
    package var host: String
    package var port: Int
    package var security: Security
    /// `nil` for a server without authentication.
    package var credentials: Credentials?
    /// The sender of all mails.
    package var sender: MailSender
    /// The client's name in `EHLO`: letters, digits, dots and hyphens; by default the domain of the sender.
    package var clientName: String
    /// The trusted roots for the server's certificate.
    package var trust: NIOSSLTrustRoots
    /// The timeout of one attempt.
    package var timeout: Duration
    package var retry: RetryPolicy

    /// Creates a configuration.
    /// - Parameters:
    ///   - host: The host name or IP address; with TLS, it must match the server's certificate.
    ///   - port: By default 587, or 465 with ``Security/implicitTLS``.
    ///   - timeout: The timeout of one attempt.
    ///   - retry: By default 5 attempts with pauses of 15 to 30 seconds in total.
    /// - Throws: ``MessageConfigurationError`` if the client name is invalid, or if an unencrypted connection leaves this machine.
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
            throw MessageConfigurationError("The name that the mail server is told must be of letters, digits, dots and hyphens.")
        }
        self.host = host
        self.port = port ?? (security == .implicitTLS ? 465 : 587)
        (self.security, self.credentials, self.sender) = (security, credentials, sender)
        self.clientName = name
        (self.trust, self.timeout, self.retry) = (trust, timeout, retry)
    }
}
