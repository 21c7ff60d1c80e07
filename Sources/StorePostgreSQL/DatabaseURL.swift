internal import Foundation

/// The parts of a connection URL, for messages and checks; libpq parses the URL itself. The password is recognized even in a malformed URL,
/// so that no message shows it.
package struct DatabaseURL {
    package let user: String?
    /// Whether the URL contains a password, as a part or as a parameter.
    package let hasPassword: Bool
    /// Whether the user, the password and the parameters contain only characters of a URL. Otherwise libpq takes a part of the password for
    /// something else, and quotes it in an error.
    let isEncoded: Bool
    let hosts: String
    /// The hosts with their ports, in order; empty if the URL names no host, or names hosts or ports as parameters.
    let servers: [(host: String, port: String?)]
    let path: String
    /// Whether all hosts are this machine.
    let isLocal: Bool

    package init(_ text: String) {
        let rest = text.range(of: "://").map { text[$0.upperBound...] } ?? text[...]
        // The last “@” ends the user, because a password may contain any character.
        let at = rest.lastIndex(of: "@")
        let account = at.map { rest[..<$0] }
        let place = at.map { rest[rest.index(after: $0)...] } ?? rest
        let beforeQuery = place.prefix { $0 != "?" }
        let query = place.dropFirst(beforeQuery.count)
        user = account.map { String($0.prefix { $0 != ":" && $0 != "/" && $0 != "?" }) }
        hasPassword = account?.contains(":") == true || query.contains("password=")
        isEncoded =
            account?.contains(where: "/?#[]@".contains) != true
            && text.split(separator: "%", omittingEmptySubsequences: false).dropFirst().allSatisfy { token in
                token.count >= 2 && token.prefix(2).allSatisfy { $0.isASCII && $0.isHexDigit }
            }
        hosts = String(beforeQuery.prefix { $0 != "/" })
        path = String(beforeQuery.dropFirst(hosts.count))
        let parts = hosts.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let name = part.hasPrefix("[") ? String(part.prefix { $0 != "]" }) + "]" : String(part.prefix { $0 != ":" })
            return (name: name, rest: part.dropFirst(name.count))
        }
        let names = parts.map(\.name)
        servers =
            names.contains("") || query.contains("host") || query.contains("port")
            ? []
            : parts.map { name, rest in
                let host = name.trimmingCharacters(in: ["[", "]"])
                return (host.removingPercentEncoding ?? host, rest.isEmpty ? nil : String(rest.dropFirst()))
            }
        isLocal =
            !query.contains("host")
            && names.allSatisfy { name in
                name.isEmpty || name == "localhost" || name.hasPrefix("127.") || name == "[::1]" || name.lowercased().hasPrefix("%2f")
            }
    }
}
