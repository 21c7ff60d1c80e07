internal import Foundation

/// The parts of a connection URL, which libpq parses itself. The password is recognized even in a malformed URL, so that no message shows it.
package struct DatabaseURL {
    package let user: String?
    /// Whether the URL contains a password, as a part or as a parameter.
    package let hasPassword: Bool
    /// Whether the user, the password and the parameters contain only characters of a URL. Otherwise libpq takes a part of the password for
    /// something else, and quotes it in an error.
    let isEncoded: Bool
    let hosts: String
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
        let names = hosts.split(separator: ",", omittingEmptySubsequences: false).map { host in
            host.hasPrefix("[") ? String(host.prefix { $0 != "]" }) + "]" : String(host.prefix { $0 != ":" })
        }
        isLocal =
            !query.contains("host")
            && names.allSatisfy { name in
                name.isEmpty || name == "localhost" || name.hasPrefix("127.") || name == "[::1]" || name.lowercased().hasPrefix("%2f")
            }
    }
}
