internal import AuthFoundation
public import Foundation

/// Which authenticator of which org to enroll in.
public struct DeviceAuthenticatorConfig: Sendable {
    /// The org's URL: scheme, host and port, without a path and without a slash at the end.
    public let orgURL: URL
    /// The kind of authenticator: `custom_app`.
    public let authenticatorKey: String
    /// The client id of the app that the authenticator is linked to.
    public let oidcClientId: String

    /// Says which authenticator of which org to enroll in.
    ///
    /// - Parameters:
    ///   - orgURL: The org's URL, with or without a scheme: `https` is put before a host alone and in the place of `http`. Path, query and
    ///     user are dropped. Unlike with Okta's SDK a port is kept, and `http` is kept for hosts of this machine (`localhost`,
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

/// The rules for an org's URL, and for what else is at the org.
enum OrganizationURL {
    /// Scheme, host and port of a URL that a person wrote (the device-authenticator reference 1.3); the URL itself if it names no host.
    static func normalized(_ url: URL) -> URL {
        if let normalized = origin(of: url) { return normalized }
        // Without a scheme the host is read as a path, or with a port as a scheme.
        return URL(string: "https://" + url.absoluteString).flatMap(origin(of:)) ?? url
    }

    private static func origin(of url: URL) -> URL? {
        guard let host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty else { return nil }
        let isPlain = url.scheme?.lowercased() == "http" && LoopbackRule.isLoopback(host)
        let scheme = isPlain ? "http" : "https"
        // The port of plain http says nothing about https.
        let port = url.port.flatMap { $0 == (isPlain ? 80 : 443) ? nil : $0 }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return URL(string: "\(scheme)://\(name)\(port.map { ":\($0)" } ?? "")")
    }

    /// Whether a URL that the server gave is at the org: over https, or over http if the org itself is on this machine.
    ///
    /// The port may differ: the server's links are used as they are.
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
