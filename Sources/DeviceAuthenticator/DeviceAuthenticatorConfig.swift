internal import AuthFoundation
public import Foundation

/// The authenticator to enroll in, identified by its org and client.
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

/// The name of ``DeviceAuthenticatorConfig`` in Okta's older documentation.
public typealias AuthenticatorConfig = DeviceAuthenticatorConfig

/// Rules for an org's URL and for URLs that the org provides.
enum OrganizationURL {
    /// Returns scheme, host and port of a URL (Documentation/Protocol/Devices.md §1.3), or the URL itself if it has no host.
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

    /// Whether a URL from the server has the org's host and is https, or http if the org itself is on this machine. The port may differ,
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

/// The description of the app for the authenticator. Safe from any thread. Changes after ``DeviceAuthenticatorBuilder/create()`` have no
/// effect on the created authenticator.
public final class ApplicationConfig: Sendable {
    /// The push environment, and the titles of notification actions.
    public struct PushSettings: Sendable {
        /// An environment of the Apple Push Notification service.
        public enum APSEnvironment: Sendable {
            /// For builds that run from Xcode.
            case development
            /// For all other builds.
            case production
        }

        /// The push environment; `production` by default.
        public var apsEnvironment: APSEnvironment = .production
        /// The title of the action that approves; `nil` for none. The category `OKTA_PUSH_CHALLENGE` is registered if this title and
        /// ``denyActionTitle`` are set.
        public var approveActionTitle: String?
        /// The title of the action that denies; `nil` for none.
        public var denyActionTitle: String?
        /// The title of the action that opens the app to verify the user; `nil` for none. The category `OKTA_PUSH_UV_CHALLENGE` is
        /// registered if this title is set.
        public var userVerificationActionTitle: String?
    }

    private let settings: Locked<PushSettings>
    let applicationName: String
    let applicationVersion: String
    let applicationGroupId: String
    let keychainGroupId: String
    let applicationInstallationId: String?

    /// Creates a description of the app.
    /// - Parameters:
    ///   - applicationName: The app's name, as the server shows it.
    ///   - applicationVersion: The app's version.
    ///   - applicationGroupId: Identifies the storage that the app and its extensions share. On Apple platforms it is an app group.
    ///     Elsewhere it names the folder `countersign/devices/<applicationGroupId>` in the user's data folder (`$XDG_DATA_HOME` or
    ///     `~/.local/share`).
    ///   - keychainGroupId: The keychain group of the keys; `nil` for `applicationGroupId`. Ignored on platforms other than Apple's.
    ///   - applicationInstallationId: An id of this installation, sent as `authenticatorAppKey`; `nil` for none.
    public init(
        applicationName: String, applicationVersion: String, applicationGroupId: String, keychainGroupId: String? = nil,
        applicationInstallationId: String? = nil
    ) {
        settings = Locked(PushSettings())
        self.applicationName = applicationName
        self.applicationVersion = applicationVersion
        self.applicationGroupId = applicationGroupId
        self.keychainGroupId = keychainGroupId ?? applicationGroupId
        self.applicationInstallationId = applicationInstallationId
    }

    /// The push environment, and the titles of notification actions.
    public var pushSettings: PushSettings {
        get { settings.withLock { $0 } }
        set { settings.withLock { $0 = newValue } }
    }
}

/// Names from Okta's older documentation.
extension ApplicationConfig {
    /// The same as ``PushSettings/apsEnvironment-swift.property``.
    public var apsEnvironment: PushSettings.APSEnvironment {
        get { pushSettings.apsEnvironment }
        set { pushSettings.apsEnvironment = newValue }
    }

    /// The same as ``PushSettings/approveActionTitle``.
    public var approveActionTitle: String? {
        get { pushSettings.approveActionTitle }
        set { pushSettings.approveActionTitle = newValue }
    }

    /// The same as ``PushSettings/denyActionTitle``.
    public var denyActionTitle: String? {
        get { pushSettings.denyActionTitle }
        set { pushSettings.denyActionTitle = newValue }
    }

    /// The same as ``PushSettings/userVerificationActionTitle``.
    public var userVerificationActionTitle: String? {
        get { pushSettings.userVerificationActionTitle }
        set { pushSettings.userVerificationActionTitle = newValue }
    }
}

/// Constants of the module.
public struct DeviceAuthenticatorConstants: Sendable {
    /// The version of Okta's SDK that this module is compatible with, as sent in requests.
    public static let version: String = "1.1.0"
    /// The SDK name that is sent in requests.
    public static let name: String = "DeviceAuthenticator"
    /// The storage folder in an app group's container.
    public static let defaultStorageRelativeDirectoryPath: String = "Library/DeviceSDK/SQLite"
    /// The database name that Okta's SDK publishes. This module does not use a database.
    public static let defaultStorageName: String = "db"
}
