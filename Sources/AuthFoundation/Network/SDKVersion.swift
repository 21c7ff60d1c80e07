import Foundation

/// The version of a part of the SDK, as the header `User-Agent` names it.
public struct SDKVersion: Sendable {
    /// The name of a part of the SDK.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        /// The name.
        public let rawValue: String

        /// Takes a name.
        ///
        /// - Parameter rawValue: The name, without spaces.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Takes a name.
        ///
        /// - Parameter value: The name, without spaces.
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

    /// The part's name.
    public let name: Name

    /// The part's version.
    public let version: String

    /// Name and version with a slash between them.
    public var displayName: String { "\(name.rawValue)/\(version)" }

    private static let registered = Locked<[Name: SDKVersion]>([
        .authFoundation: SDKVersion(name: .authFoundation, version: SDKVersion.current)
    ])

    /// The version of this package.
    package static let current = "0.1.0"

    /// The value of the header `User-Agent`: the parts in use sorted by name, then the system.
    public static var userAgent: String {
        let parts = registered.withLock { $0.values.map(\.displayName).sorted() }
        return (parts + [system]).joined(separator: " ")
    }

    /// Adds a part of the SDK to the user agent.
    ///
    /// - Parameters:
    ///   - name: The part's name.
    ///   - version: The part's version.
    /// - Returns: The part, or nil if it was registered before.
    @discardableResult
    public static func register(_ name: Name, version: String) -> SDKVersion? {
        registered.withLock { parts in
            guard parts[name] == nil else { return nil }
            let part = SDKVersion(name: name, version: version)
            parts[name] = part
            return part
        }
    }

    private static let system: String = {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        #if os(iOS)
        let name = "iOS"
        #elseif os(macOS)
        let name = "macOS"
        #elseif os(tvOS)
        let name = "tvOS"
        #elseif os(watchOS)
        let name = "watchOS"
        #elseif os(visionOS)
        let name = "visionOS"
        #elseif os(Linux)
        let name = "Linux"
        #else
        let name = "unknown"
        #endif
        return "\(name)/\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
    }()
}
