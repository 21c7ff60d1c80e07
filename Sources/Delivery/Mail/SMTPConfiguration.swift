internal import JOSE
package import NIOSSL

/// Which mail server is used, and how.
package struct SMTPConfiguration: Sendable, Redacted {
    /// How the connection is encrypted.
    package enum Security: String, Sendable, Hashable {
        /// By `STARTTLS`; a server that does not offer it gets no mail (port 587).
        case startTLS
        /// From the first byte on (port 465).
        case implicitTLS
        /// Not at all. On this machine only.
        case insecureOnThisMachine
    }

    /// How the server knows us.
    package struct Credentials: Sendable, Redacted {
        /// The name.
        package var user: String
        /// The password.
        package var password: String

        /// Names both.
        ///
        /// - Parameters:
        ///   - user: The name.
        ///   - password: The password.
        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        /// The name; never the password.
        package var description: String { "Credentials(\(user))" }
    }

    /// The server's name or address.
    package var host: String
    /// The port.
    package var port: Int
    /// How the connection is encrypted.
    package var security: Security
    /// How the server knows us; nil if it does not have to.
    package var credentials: Credentials?
    /// From whom mails are.
    package var sender: MailSender
    /// What we say that we are called, of letters, digits, dots and hyphens; by default what stands after the `@` of the sender.
    package var clientName: String
    /// Whose certificates are trusted.
    package var trust: NIOSSLTrustRoots
    /// How long one try may take.
    package var timeout: Duration
    /// How often it is tried.
    package var retry: RetryPolicy

    /// Sets it.
    ///
    /// - Parameters:
    ///   - host: The server's name or address; a name, wherever its certificate has to match.
    ///   - port: The port; by default 587, or 465 with ``Security/implicitTLS``.
    ///   - security: How the connection is encrypted.
    ///   - credentials: How the server knows us.
    ///   - sender: From whom mails are.
    ///   - clientName: What we say that we are called.
    ///   - trust: Whose certificates are trusted; by default the system's.
    ///   - timeout: How long one try may take; by default 30 seconds.
    ///   - retry: How often it is tried; by default five times in some minute.
    /// - Throws: ``MessageConfigurationError`` if it sends mails, or a password, in the clear to another machine.
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
        self.security = security
        self.credentials = credentials
        self.sender = sender
        self.clientName = name
        self.trust = trust
        self.timeout = timeout
        self.retry = retry
    }
}
