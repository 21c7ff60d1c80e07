internal import JOSE

/// The site for which passkeys are valid.
package struct RelyingParty: Sendable, Hashable {
    /// Whether a ceremony may take place in a frame of another origin.
    package enum CrossOrigin: Sendable, Hashable {
        /// Ceremonies in frames are rejected.
        case refuse
        /// Ceremonies in frames are accepted. If the client states the origin of the top-level page, it must be on the list. Some browsers
        /// do not state it.
        case allow(topOrigins: [String])
    }

    /// The RP ID: a domain.
    package var id: String
    /// The name that clients may show.
    package var name: String
    /// The allowed origins, compared byte by byte: `https://` with host and, if it is not 443, port; for Android apps
    /// `android:apk-key-hash:` with the digest of the signing certificate. Origins outside of the RP ID need `/.well-known/webauthn`.
    package var origins: [String]
    /// Whether a ceremony may take place in a frame of another origin.
    package var crossOrigin: CrossOrigin

    /// Creates a relying party. Use ``RelyingPartyID`` to check the id and the origins of a configuration.
    package init(id: String, name: String, origins: [String], crossOrigin: CrossOrigin = .refuse) {
        self.id = id
        self.name = name
        self.origins = origins
        self.crossOrigin = crossOrigin
    }
}

/// Checks of RP IDs for a server's configuration.
package enum RelyingPartyID: Sendable {
    /// The reason why an RP ID cannot be used at an origin.
    package enum Problem: Error, Sendable, Hashable {
        /// The RP ID is not a domain in lower case and ASCII. International names are written in punycode.
        case notDomain
        /// The RP ID is an IP address.
        case address
        /// The origin is not `https://`, host and optional port. Only `localhost` and its subdomains may use `http://`.
        case origin
        /// The origin's host is neither the RP ID nor one of its subdomains.
        case otherDomain
        /// The RP ID is a top-level domain.
        case topLevelDomain
    }

    /// Returns why clients will reject an RP ID at an origin, or `nil` if the RP ID is the origin's host or a parent domain of it.
    /// Without a list of public suffixes, the check cannot know that clients also reject `co.uk` and the like. The origin of an Android app
    /// has no host: the app's association with the RP ID decides, and the answer is `nil`.
    package static func problem(_ id: String, at origin: String) -> Problem? {
        if let problem = problem(id) { return problem }
        if isAndroidOrigin(origin) { return nil }
        guard let host = host(of: origin) else { return .origin }
        if host == id { return nil }
        guard host.hasSuffix("." + id) else { return .otherDomain }
        return id.contains(".") || id == "localhost" ? nil : .topLevelDomain
    }

    /// Returns why a text is not an RP ID, or `nil` if it is a domain.
    package static func problem(_ id: String) -> Problem? {
        guard !id.hasPrefix("[") else { return .address }
        let labels = id.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard id.utf8.count <= 253, labels.allSatisfy({ isLabel(Array($0)) }) else { return .notDomain }
        // A host whose last label is a number is an IPv4 address for browsers (WHATWG URL §3.5).
        guard let last = labels.last.map(Array.init), !isNumber(last) else { return .address }
        return nil
    }

    private static func isLabel(_ label: [UInt8]) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return 1...63 ~= label.count && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { isLetter($0) || isDigit($0) || $0 == hyphen }
    }

    private static func isNumber(_ label: [UInt8]) -> Bool {
        if label.allSatisfy(isDigit) { return true }
        return label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy { isDigit($0) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }
    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    /// Returns the host of a web origin in its serialized form, which has neither a path nor a default port.
    private static func host(of origin: String) -> String? {
        let (scheme, defaultPort) = origin.hasPrefix("https://") ? ("https://", 443) : ("http://", 80)
        guard origin.hasPrefix(scheme) else { return nil }
        let parts = origin.dropFirst(scheme.count).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first.map(String.init), problem(host) == nil else { return nil }
        if parts.count == 2 {
            guard let port = UInt16(parts[1]), port != 0, port != defaultPort, String(port) == parts[1] else { return nil }
        }
        let isLocal = host == "localhost" || host.hasSuffix(".localhost")
        return scheme == "https://" || isLocal ? host : nil
    }

    private static func isAndroidOrigin(_ origin: String) -> Bool {
        let prefix = "android:apk-key-hash:"
        return origin.hasPrefix(prefix) && (try? Base64URL.decode(origin.dropFirst(prefix.count)))?.count == 32
    }
}
