package import JOSE
package import ServerHTTP
package import SignInPages

extension AuthorizationServer {
    /// Where a server listens, what it stores where, and its limits.
    ///
    /// ``init(commandLine:environment:file:)`` loads it from the command line, the environment and the org file.
    package struct Configuration: Sendable, Redacted {
        /// The address or host name to listen on.
        package var host: String
        /// The port to listen on, 0 to 65,535; 0 takes a free one.
        package var port: Int
        /// The origin that clients reach the server by, where it differs from the org file's; replaces
        /// `OrganizationDefinition.origin` before it is applied.
        package var publicOrigin: String?
        /// The certificate and its key; nil listens without TLS.
        package var tls: TLS?
        /// The folder of the database and, by default, the master key.
        package var dataDirectory: String
        /// Where the master key comes from.
        package var masterKey: MasterKeySource
        /// The peers, as addresses (`10.0.0.7`) or networks (`10.0.0.0/8`), whose `X-Forwarded-For` is believed.
        package var trustedProxies: [TrustedNetwork]
        /// What requests may be.
        package var limits: Limits
        /// How many passwords are hashed at the same time, 1 to 64; each takes some 32 MiB.
        package var hashingWidth: Int
        /// The least level that is logged: `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
        package var logLevel: String
        /// How often keys are looked after and expired records removed.
        package var maintenanceInterval: Duration
        /// How the hosted pages look.
        package var branding: Branding

        /// Makes a configuration; the defaults listen on the loopback interface only.
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

        /// Whether browsers reach the server over TLS, which may end at a proxy in front of it.
        var isReachedByTLS: Bool { tls != nil || publicOrigin?.hasPrefix("https:") ?? false }

        /// Where the database is.
        package var storePath: String { dataDirectory + "/countersign.sqlite" }
    }
}

extension AuthorizationServer.Configuration {
    /// Text in PEM form.
    package enum PEM: Sendable, Equatable, Redacted {
        /// In a file.
        case file(String)
        /// Here.
        case text(String)
    }

    /// A certificate and its key.
    package struct TLS: Sendable, Equatable, Redacted {
        /// The certificates, the server's own first.
        package var certificateChain: PEM
        /// The private key of the first one.
        package var privateKey: PEM

        /// Names a certificate and its key.
        package init(certificateChain: PEM, privateKey: PEM) {
            self.certificateChain = certificateChain
            self.privateKey = privateKey
        }
    }

    /// Where the key comes from that signing keys and client secrets are encrypted under.
    package enum MasterKeySource: Sendable, Equatable, Redacted {
        /// The file `master.key` in the data folder; made there on first start.
        case dataDirectory
        /// A file with 32 bytes in base64; it must exist.
        case file(String)
        /// 32 bytes in base64.
        case base64(Secret)
    }

    /// A string that is redacted in descriptions and mirrors.
    package typealias Secret = JOSE.Secret

    /// What requests may be.
    package struct Limits: Sendable, Equatable {
        /// The longest body, in bytes.
        package var bodyBytes: Int
        /// All headers together, in bytes.
        package var headerBytes: Int
        /// The most headers.
        package var headerCount: Int
        /// How long a connection may be silent, between requests and within one.
        package var idleTimeout: Duration
        /// How long a new connection may take to send the head of its first request, its TLS handshake included.
        package var firstRequestTimeout: Duration
        /// How long the body of a request may take to arrive.
        package var bodyTimeout: Duration
        /// How long a client may leave an answer unread before its connection is closed.
        package var answerTimeout: Duration
        /// The most connections at the same time; more wait to be accepted.
        package var connections: Int
        /// The most connections of one address at the same time, of IPv6 of one /64. A new one closes the one that waits longest for its
        /// client, and is closed itself when every one waits for the server. Trusted proxies are not limited.
        package var connectionsPerAddress: Int

        /// Sets limits; the defaults suit every request of the protocol.
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
    /// Address, port, folder, log level and whether the server speaks TLS. No key.
    package var description: String {
        "Configuration(\(host):\(port), data: \(dataDirectory), TLS: \(tls != nil), log level: \(logLevel))"
    }
}
