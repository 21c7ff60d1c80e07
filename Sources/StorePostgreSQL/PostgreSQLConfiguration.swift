#if PostgreSQL
internal import Foundation
package import JOSE

/// The database and the limits of its use.
package struct PostgreSQLConfiguration: Sendable {
    /// A connection URL of libpq, which may contain a password and name several hosts:
    /// `postgres://user@a,b/db?target_session_attrs=read-write&sslmode=verify-full`.
    package var url: Secret
    /// The password, instead of one in the URL.
    package var password: Secret?
    /// Connections at the same time, 1 to 64. Each has a thread.
    package var connections = 8
    /// The maximum duration of a statement, in seconds.
    package var statementTimeout = 5
    /// The maximum wait for a row that another transaction has locked, in seconds.
    package var lockTimeout = 2
    /// How long a request waits for a lost database, in seconds.
    package var reconnectTimeout = 5

    package init(url: String, password: String? = nil) {
        self.url = Secret(url)
        self.password = password.map { Secret($0) }
    }

    /// The URL without its password and without parameters, for messages.
    package var place: String {
        let text = url.text.prefix { $0 != "?" }
        guard let at = text.lastIndex(of: "@"), let scheme = text.range(of: "://") else { return String(text) }
        let user = text[scheme.upperBound..<at].prefix { $0 != ":" }
        return "\(text[..<scheme.upperBound])\(user)\(text[at...])"
    }
}

extension PostgreSQLConfiguration: Redacted {
    package var description: String { place }
}
#endif
