/// The path of an endpoint, with a name in braces for each parameter: `/api/v1/users/{id}/sessions`. The route table, links and the labels
/// of metrics use the same value.
package struct RoutePath: Sendable, ExpressibleByStringLiteral {
    /// The parameter that names an authorization server. It is the first parameter of its path.
    static let server = "{server}"
    private static let orgServer = "/oauth2/v1/"
    private static let prefixes = [orgServer, "/.well-known/", "/api/v1/", "/idp/myaccount/", "/"]

    package let pattern: String
    /// The pattern without a common prefix, for logs and metrics.
    package let name: String

    package init(_ pattern: String) {
        self.pattern = pattern
        name = Self.prefixes.first(where: pattern.hasPrefix).map { String(pattern.dropFirst($0.count)) } ?? pattern
    }

    package init(stringLiteral pattern: String) { self.init(pattern) }

    /// Returns the path with values for its parameters, in order.
    package func callAsFunction(_ values: String...) -> String {
        let parts = pattern.split(separator: "{", omittingEmptySubsequences: false)
        assert(parts.count == values.count + 1, "The path \(pattern) has \(parts.count - 1) parameters.")
        return zip(values, parts.dropFirst()).reduce(into: String(parts[0])) { $0 += $1.0 + $1.1.drop { $0 != "}" }.dropFirst() }
    }

    /// Returns the path of an endpoint below `/oauth2/v1` at an authorization server; `nil` is the org server.
    package func at(server id: String?) -> String {
        guard let id, pattern.hasPrefix(Self.orgServer) else { return pattern }
        return "/oauth2/\(id)/v1/" + pattern.dropFirst(Self.orgServer.count)
    }

    /// The patterns in the route table: each endpoint of the org server also exists at every custom authorization server.
    var patterns: [String] { pattern.hasPrefix(Self.orgServer) ? [pattern, at(server: Self.server)] : [pattern] }
}

/// Paths to which several protocols link.
extension RoutePath {
    package static let activate: RoutePath = "/activate"
    /// The page on which a user sets up an account.
    package static let setUp: RoutePath = "/signin/set-up/{token}"
}
