package import JOSE
package import ServerHTTP
package import SignInPages

extension AuthorizationServer {
    /// The server's configuration: address, files, limits. ``init(commandLine:environment:file:)`` loads it.
    package struct Configuration: Sendable, Redacted {
        /// The address or host name on which the server listens.
        package var host: String
        /// The port on which the server listens, 0 to 65,535; 0 selects a free port.
        package var port: Int
        /// The origin that clients use, in place of `OrganizationDefinition.origin`; `nil` keeps the origin of the org file.
        package var publicOrigin: String?
        /// The certificate and its key; with `nil`, the server listens without TLS.
        package var tls: TLS?
        /// The folder of the SQLite database and, by default, of the master key.
        package var dataDirectory: String
        /// The URL of a PostgreSQL database, which may contain a password. `nil` uses SQLite in the data folder.
        package var database: Secret?
        /// The password of the PostgreSQL database, in place of one in the URL; `nil` for none.
        package var databasePassword: PEM?
        package var masterKey: MasterKeySource
        /// Peers whose `X-Forwarded-For` header is trusted, as addresses (`10.0.0.7`) or networks (`10.0.0.0/8`).
        package var trustedProxies: [TrustedNetwork]
        /// The limits of requests and connections.
        package var limits: Limits
        /// Maximum number of concurrent password hashes, 1 to 64; each takes about 32 MiB.
        package var hashingWidth: Int
        /// Minimum level that is logged: `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
        package var logLevel: String
        /// Interval of key rotation checks and of the removal of expired records.
        package var maintenanceInterval: Duration
        /// The address on which the server provides metrics.
        package var metricsHost = "127.0.0.1"
        /// The port of the metrics; `nil` provides none.
        package var metricsPort: Int?
        /// Whether the log is written as JSON.
        package var logsJSON = false
        /// The time from the signal to stop until the server accepts no more connections. Meanwhile, load balancers notice that the server
        /// is not ready.
        package var shutdownDelay: Duration = .zero
        /// Branding of the hosted pages and mails.
        package var branding: Branding

        /// Creates a configuration. The defaults listen on the loopback interface only.
        package init(
            host: String = "127.0.0.1", port: Int = 8080, publicOrigin: String? = nil, tls: TLS? = nil, dataDirectory: String = "data",
            masterKey: MasterKeySource = .dataDirectory, trustedProxies: [TrustedNetwork] = [], limits: Limits = Limits(),
            hashingWidth: Int = 2, logLevel: String = "info", maintenanceInterval: Duration = .seconds(3600),
            branding: Branding = Branding()
        ) {
            self.host = host
            self.port = port
            self.publicOrigin = publicOrigin
            self.tls = tls
            self.dataDirectory = dataDirectory
            self.masterKey = masterKey
            self.trustedProxies = trustedProxies
            self.limits = limits
            self.hashingWidth = hashingWidth
            self.logLevel = logLevel
            self.maintenanceInterval = maintenanceInterval
            self.branding = branding
        }

        /// Whether browsers use TLS, which a proxy in front of the server may terminate.
        var isReachedByTLS: Bool { tls != nil || publicOrigin?.hasPrefix("https:") ?? false }

        package var storePath: String { dataDirectory + "/countersign.sqlite" }
    }
}

extension AuthorizationServer.Configuration {
    /// PEM data, inline or in a file.
    package enum PEM: Sendable, Equatable, Redacted {
        case file(String)
        case text(String)
    }

    package struct TLS: Sendable, Equatable, Redacted {
        /// The server's certificate first, then the intermediates.
        package var certificateChain: PEM
        /// Private key of the first certificate.
        package var privateKey: PEM

        package init(certificateChain: PEM, privateKey: PEM) {
            self.certificateChain = certificateChain
            self.privateKey = privateKey
        }
    }

    /// Source of the keys that encrypt signing keys and client secrets: one key, or up to three during a rotation. The first one encrypts.
    package enum MasterKeySource: Sendable, Equatable, Redacted {
        /// The file `master.key` in the data folder, created at the first start.
        case dataDirectory
        /// An existing file with a key in each line: 32 bytes in Base64.
        case file(String)
        /// Keys of 32 bytes in Base64, with spaces between them.
        case base64(Secret)
    }

    /// A string that is redacted in descriptions and mirrors.
    package typealias Secret = JOSE.Secret

    /// Request size, time and connection limits.
    package struct Limits: Sendable, Equatable {
        /// Maximum body size in bytes.
        package var bodyBytes: Int
        /// Maximum size of all headers in bytes.
        package var headerBytes: Int
        package var headerCount: Int
        /// Maximum time without data on a connection, between requests and within a request.
        package var idleTimeout: Duration
        /// Maximum time from a new connection to the complete head of its first request, including the TLS handshake.
        package var firstRequestTimeout: Duration
        /// Maximum time for the body of a request to arrive.
        package var bodyTimeout: Duration
        /// Maximum time that a client may leave a response unread.
        package var answerTimeout: Duration
        /// Maximum number of concurrent connections; further connections wait to be accepted.
        package var connections: Int
        /// Maximum number of concurrent connections of one IPv4 address or IPv6 /64. If a new connection exceeds the limit, the server
        /// closes the connection that has waited longest for its client, or the new connection if all others wait for the server. Trusted
        /// proxies are not limited.
        package var connectionsPerAddress: Int

        package init(
            bodyBytes: Int = 64 * 1024, headerBytes: Int = 16 * 1024, headerCount: Int = 100, idleTimeout: Duration = .seconds(60),
            firstRequestTimeout: Duration = .seconds(10), bodyTimeout: Duration = .seconds(20), answerTimeout: Duration = .seconds(30),
            connections: Int = 10_000, connectionsPerAddress: Int = 256
        ) {
            self.bodyBytes = bodyBytes
            self.headerBytes = headerBytes
            self.headerCount = headerCount
            self.idleTimeout = idleTimeout
            self.firstRequestTimeout = firstRequestTimeout
            self.bodyTimeout = bodyTimeout
            self.answerTimeout = answerTimeout
            self.connections = connections
            self.connectionsPerAddress = connectionsPerAddress
        }
    }
}

extension AuthorizationServer.Configuration {
    package var description: String {
        "Configuration(\(host):\(port), data: \(dataDirectory), TLS: \(tls != nil), log level: \(logLevel))"
    }
}
