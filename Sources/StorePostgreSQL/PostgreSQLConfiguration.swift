#if PostgreSQL
internal import Foundation
package import JOSE

/// The database and the limits of its use.
package struct PostgreSQLConfiguration: Sendable {
    /// A connection URL of libpq, which may contain a password and name several hosts:
    /// `postgres://user@a,b/db?target_session_attrs=read-write&sslmode=verify-full`.
    package var url: Secret
    /// The password, in place of one in the URL; `nil` for none.
    package var password: Secret?
    /// The number of connections, 1 to 64. Each has a thread.
    package var connections = 8
    /// The maximum duration of a statement, in seconds.
    package var statementTimeout = 5
    /// The maximum wait for a row that another transaction has locked, in seconds.
    package var lockTimeout = 2
    /// The maximum wait of a request for a lost database, in seconds.
    package var reconnectTimeout = 5
    /// Called for each round trip that a request waits for, on the thread of the connection. Tests count them.
    package var observeRoundTrip: (@Sendable () -> Void)?

    package init(url: String, password: String? = nil) {
        self.url = Secret(url)
        self.password = password.map { Secret($0) }
    }

    /// The URL without its password and without parameters, for messages.
    package var place: String {
        let parts = DatabaseURL(url.text)
        return "postgres://\(parts.user.map { $0 + "@" } ?? "")\(parts.hosts)\(parts.path)"
    }

    /// The `sslmode` if the URL names none: TLS with a verified certificate, except on this machine.
    var defaultTLSMode: String { DatabaseURL(url.text).isLocal ? "prefer" : "verify-full" }
}

extension PostgreSQLConfiguration: Redacted {
    package var description: String { place }
}
#endif
