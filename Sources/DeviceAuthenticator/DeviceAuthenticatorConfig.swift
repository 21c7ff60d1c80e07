internal import AuthFoundation
public import Foundation

/// Identifies the authenticator to enroll in: its org and client.
public struct DeviceAuthenticatorConfig: Sendable {
    /// The org's URL: scheme, host and port, without a path or trailing slash.
    public let orgURL: URL
    /// The kind of authenticator: `custom_app`.
    public let authenticatorKey: String
    /// The client id of the app that the authenticator is linked to.
    public let oidcClientId: String

    /// Creates a configuration.
    /// - Parameters:
    ///   - orgURL: The org's URL, with or without a scheme. `https` is added to a host without a scheme, and replaces `http`. Path, query
    ///     and user are removed. Unlike Okta's SDK, this module keeps a port, and keeps `http` for loopback hosts (`localhost`,
    ///     `127.0.0.0/8`, `::1`).
    ///   - oidcClientId: The client id of the app that the authenticator is linked to.
    public init(orgURL: URL, oidcClientId: String) {
        self.orgURL = OrganizationURL.normalized(orgURL)
        authenticatorKey = "custom_app"
        self.oidcClientId = oidcClientId
    }
}

/// The name in the older documentation.
public typealias AuthenticatorConfig = DeviceAuthenticatorConfig

/// Rules for an org's URL and for URLs that the org provides.
enum OrganizationURL {
    /// Returns scheme, host and port of a URL (the device-authenticator reference 1.3), or the URL itself if it has no host.
    static func normalized(_ url: URL) -> URL {
        if let normalized = origin(of: url) { return normalized }
        // Without a scheme, the host is parsed as a path, or as a scheme if a port follows.
        return URL(string: "https://" + url.absoluteString).flatMap(origin(of:)) ?? url
    }

    private static func origin(of url: URL) -> URL? {
        guard let host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty else { return nil }
        let isPlain = url.scheme?.lowercased() == "http" && LoopbackRule.isLoopback(host)
        let scheme = isPlain ? "http" : "https"
        // A port for http does not apply to https.
        let port = url.port.flatMap { $0 == (isPlain ? 80 : 443) ? nil : $0 }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return URL(string: "\(scheme)://\(name)\(port.map { ":\($0)" } ?? "")")
    }

    /// Whether a URL that the server provided belongs to the org: https, or http if the org itself is on this machine. The port may differ,
    /// because the server's links are used unchanged.
    static func isTrusted(_ url: URL, of organization: URL) -> Bool {
        // Parsers disagree about URLs with a user or a password: some take the part before the @ for the host.
        guard url.user == nil, url.password == nil, LoopbackRule.isAcceptable(url), let host = url.host()?.lowercased(),
            host == organization.host()?.lowercased()
        else {
            return false
        }
        return url.scheme?.lowercased() == "https" || organization.scheme == "http"
    }
}
