internal import Foundation

/// A redirect to this machine (RFC 8252, 7.3).
struct LoopbackRedirect: Sendable, Equatable {
    /// The address as the URI has it: `127.0.0.1`, `[::1]` or `localhost`.
    let host: String
    /// The port that the URI has; nil if any will do.
    let port: UInt16?
    /// The path, with its percent encoding.
    let path: String

    /// - Parameter url: A redirect URI.
    /// - Throws: ``BrowserSigninError/invalidRedirectScheme(_:)`` if it is not `http` to this machine.
    init(_ url: URL) throws {
        guard url.scheme?.lowercased() == "http", let host = url.host()?.lowercased(), url.user() == nil, url.query() == nil,
            url.fragment() == nil
        else { throw BrowserSigninError.invalidRedirectScheme(url.scheme) }
        switch host {
        case "127.0.0.1", "localhost": self.host = host
        case "::1", "[::1]": self.host = "[::1]"
        default: throw BrowserSigninError.invalidRedirectScheme(url.scheme)
        }
        guard let port = url.port else {
            self.port = nil
            path = url.path().isEmpty ? "/" : url.path()
            return
        }
        guard let exact = UInt16(exactly: port), exact > 0 else { throw BrowserSigninError.invalidRedirectScheme(url.scheme) }
        self.port = exact
        path = url.path().isEmpty ? "/" : url.path()
    }

    /// Whether a URL is one.
    static func isOne(_ url: URL) -> Bool {
        (try? LoopbackRedirect(url)) != nil
    }

    /// Browsers take either address by that name, and try `::1` first.
    var isBothAddresses: Bool { host == "localhost" }

    var isIPv6: Bool { host == "[::1]" }
}
