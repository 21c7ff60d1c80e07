import Foundation

/// The name and version of an SDK module in the `User-Agent` header.
public struct SDKVersion: Sendable {
    /// The name of an SDK module.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name.
        public let rawValue: String

        /// The name.
        public var description: String { rawValue }

        /// Creates a name, which must not contain spaces.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Creates a name, which must not contain spaces.
        public init(stringLiteral value: String) {
            rawValue = value
        }

        /// The module AuthFoundation.
        public static let authFoundation: Name = "okta-authfoundation-swift"
        /// The module OAuth2Auth.
        public static let oauth2Auth: Name = "okta-oauth2-swift"
        /// The module OktaDirectAuth.
        public static let directAuth: Name = "okta-directauth-swift"
        /// The module BrowserSignin.
        public static let browserSignin: Name = "okta-browsersignin-swift"
    }

    /// The name of the module.
    public let name: Name

    /// The version of the module.
    public let version: String

    /// Name and version, separated by a slash.
    public var displayName: String { "\(name.rawValue)/\(version)" }

    /// Creates the version of an SDK module.
    public init(sdk name: Name, version: String) { self.init(name: name, version: version) }

    private init(name: Name, version: String) { (self.name, self.version) = (name, version) }

    private static let registered = Locked<[Name: SDKVersion]>([
        .authFoundation: SDKVersion(name: .authFoundation, version: SDKVersion.current)
    ])

    /// The version of this package.
    package static let current = "0.1.0"

    /// The value of the `User-Agent` header: the modules in use sorted by name, then the operating system.
    public static var userAgent: String {
        let parts = registered.withLock { $0.values.map(\.displayName).sorted() }
        return (parts + ["\(systemName)/\(systemVersion)"]).joined(separator: " ")
    }

    /// Adds an SDK module to the user agent. Returns `nil` if the name is already registered.
    @discardableResult
    public static func register(_ name: Name, version: String) -> SDKVersion? {
        registered.withLock { parts in
            guard parts[name] == nil else { return nil }
            let part = SDKVersion(name: name, version: version)
            parts[name] = part
            return part
        }
    }

    /// Adds an SDK module to the user agent, in place of a registered version of the module. Returns the module.
    @discardableResult
    public static func register(sdk: SDKVersion) -> SDKVersion {
        registered.withLock { $0[sdk.name] = sdk }
        return sdk
    }

    /// Returns the registered version of an SDK module; `nil` for none.
    public static func version(for sdkName: Name) -> SDKVersion? { registered.withLock { $0[sdkName] } }

    /// The module AuthFoundation.
    public static var authFoundation: SDKVersion { SDKVersion(sdk: .authFoundation, version: current) }

    /// The name of the operating system.
    #if os(iOS)
    package static let systemName = "iOS"
    #elseif os(macOS)
    package static let systemName = "macOS"
    #elseif os(tvOS)
    package static let systemName = "tvOS"
    #elseif os(watchOS)
    package static let systemName = "watchOS"
    #elseif os(visionOS)
    package static let systemName = "visionOS"
    #elseif os(Linux)
    package static let systemName = "Linux"
    #else
    package static let systemName = "unknown"
    #endif

    /// The version of the operating system as `major.minor.patch`.
    package static var systemVersion: String {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
    }
}
