internal import Foundation

/// A redirect URI with a loopback address (RFC 8252, 7.3).
struct LoopbackRedirect: Sendable, Equatable {
    /// The host as the URI spells it: `127.0.0.1`, `[::1]` or `localhost`.
    let host: String
    /// The port of the URI, or `nil` for any free port.
    let port: UInt16?
    /// The percent-encoded path.
    let path: String

    /// Throws ``BrowserSigninError/invalidRedirectScheme(_:)`` if the URL is not `http` with a loopback host.
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

    static func isOne(_ url: URL) -> Bool {
        (try? LoopbackRedirect(url)) != nil
    }

    /// Whether to listen on both addresses. Browsers resolve `localhost` to either and try `::1` first.
    var isBothAddresses: Bool { host == "localhost" }

    var isIPv6: Bool { host == "[::1]" }
}
