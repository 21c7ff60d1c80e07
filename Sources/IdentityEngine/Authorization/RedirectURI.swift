/// Where an answer may go.
enum RedirectURI {
    /// Whether a client registered a URI. URIs are compared byte by byte (RFC 9700 section 2.1). A native application may use any port of
    /// a loopback address, because it learns its port when it begins to listen (RFC 8252 section 7.3).
    static func isRegistered(_ uri: String, among registered: [String], of application: Application) -> Bool {
        if registered.contains(where: { $0.utf8.elementsEqual(uri.utf8) }) { return true }
        guard application.kind == .native, let (host, rest) = loopback(uri) else { return false }
        return registered.contains { candidate in
            guard let (otherHost, otherRest) = loopback(candidate) else { return false }
            return host == otherHost && rest.utf8.elementsEqual(otherRest.utf8)
        }
    }

    /// The host and what follows the port, of a loopback address. `localhost` is a name, and names can be told to mean anybody.
    private static func loopback(_ uri: String) -> (host: String, rest: Substring)? {
        for host in ["127.0.0.1", "[::1]"] {
            let prefix = "http://" + host
            guard uri.utf8.starts(with: prefix.utf8) else { continue }
            let rest = uri.utf8.dropFirst(prefix.utf8.count)
            guard let first = rest.first else { return (host, "") }
            guard first == UInt8(ascii: ":") else {
                return first == UInt8(ascii: "/") || first == UInt8(ascii: "?") ? (host, Substring(rest)) : nil
            }
            let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...5).contains(digits.count), let port = Int(Substring(digits)), (1...65_535).contains(port) else { return nil }
            let tail = rest.dropFirst(1 + digits.count)
            guard tail.isEmpty || tail.first == UInt8(ascii: "/") || tail.first == UInt8(ascii: "?") else { return nil }
            return (host, Substring(tail))
        }
        return nil
    }
}
