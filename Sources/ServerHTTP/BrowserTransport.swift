internal import IdentityCore

/// Decides whether browsers reach the server over TLS, which a proxy in front of it may terminate.
package struct BrowserTransport: Sendable {
    /// Whether the configuration enables TLS, independent of the organization's origin.
    private let isConfigured: Bool

    /// Creates the rules of a server. `isConfigured` is `true` if the server itself uses TLS, or if its public origin is an `https` origin.
    package init(isConfigured: Bool) { self.isConfigured = isConfigured }

    /// Whether cookies are `Secure`. `origin` is the organization's origin; `nil` if the organization is not loaded yet.
    package func isSecure(_ origin: String?) -> Bool { isConfigured || origin.map(Self.isHTTPS) ?? false }

    /// Whether responses send HSTS (RFC 6797 section 7.2). Not on `localhost`, because the policy would apply to every port of the user's
    /// machine, and not for IP addresses, for which browsers ignore the policy (section 8.1.1).
    package func asksForTLS(_ origin: String?) -> Bool {
        guard isSecure(origin) else { return false }
        guard let origin, let start = origin.utf8.firstIndex(of: UInt8(ascii: "/")) else { return true }
        let authority = origin.utf8[start...].dropFirst(2)
        let host = authority.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        let isAddress =
            authority.first == UInt8(ascii: "[") || host.last.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? true
        return !isAddress && !host.elementsEqual("localhost".utf8) && !String(Substring(host)).hasSuffix(".localhost")
    }

    private static func isHTTPS(_ origin: String) -> Bool { origin.hasPrefix("https:") }
}

extension Endpoint.Call {
    /// Returns the cookies of the pages, with the attributes that the organization's origin requires.
    package func cookies(_ transport: BrowserTransport) -> BrowserCookies {
        BrowserCookies(isSecure: transport.isSecure(snapshot.origin))
    }
}
