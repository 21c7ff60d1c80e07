/// A version of an operating system, such as 17.4.
public struct SystemVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    public let major: Int
    public let minor: Int

    public init(_ major: Int, _ minor: Int = 0) { (self.major, self.minor) = (major, minor) }

    /// Returns `nil` for a text that is no version.
    public init?(_ text: String) {
        let parts = text.split(separator: ".").map { Int($0) }
        guard let major = parts.first ?? nil, !parts.contains(nil) else { return nil }
        self.init(major, parts.count > 1 ? parts[1] ?? 0 : 0)
    }

    public static func < (one: Self, other: Self) -> Bool { (one.major, one.minor) < (other.major, other.minor) }

    public var description: String { "\(major).\(minor)" }
}

/// A platform of Apple, with the name that `os(…)` and `@available` use.
public enum Platform: String, Sendable, Decodable, CaseIterable {
    case iOS, macOS, tvOS, watchOS, visionOS
}

/// A platform at a version of its system: the sources see the symbols that this version has.
public struct AppleSystem: Sendable, Hashable, CustomStringConvertible {
    public let platform: Platform
    /// `nil` for the newest version.
    public let version: SystemVersion?

    public init(_ platform: Platform, _ version: SystemVersion?) { (self.platform, self.version) = (platform, version) }

    /// Whether the system has symbols of a version.
    public func has(_ introduced: SystemVersion) -> Bool { version.map { introduced <= $0 } ?? true }

    public var description: String { "\(platform.rawValue) \(version.map(String.init(describing:)) ?? "newest")" }
}
