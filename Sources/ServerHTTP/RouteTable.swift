/// Finds the endpoint of a path. Paths are compared byte for byte: nothing is decoded, case matters, and no slash is ignored. In each
/// segment a fixed text takes precedence over a parameter, and a parameter over the rest of a path (`{rest...}`).
package struct RouteTable: Sendable {
    package struct Match: Sendable {
        package var endpoint: Endpoint
        /// The authorization server that the path names; `nil` for the org server.
        package var server: String?
        package var parameters: [Substring]
    }

    private struct Node: Sendable {
        var texts: [(text: [UInt8], node: Int)] = []
        var parameter: Int?
        /// The index of the endpoint whose path ends at this node; `nil` for none.
        var endpoint: Int?
        /// The index of the endpoint of all longer paths; `nil` for none.
        var rest: Int?
        /// Whether the first parameter names an authorization server.
        var namesServer = false
    }

    package let endpoints: [Endpoint]
    private var nodes = [Node()]

    /// Creates a table. The paths of the endpoints must differ.
    package init(_ endpoints: [Endpoint]) {
        self.endpoints = endpoints
        for (index, endpoint) in endpoints.enumerated() {
            for pattern in ([endpoint.path] + endpoint.otherPaths).flatMap(\.patterns) { add(pattern, index) }
        }
    }

    private mutating func add(_ pattern: String, _ endpoint: Int) {
        var node = 0
        for segment in pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            if segment.hasSuffix("...}") {
                nodes[node].rest = endpoint
                return
            }
            let isParameter = segment.hasPrefix("{")
            let text = Array(segment.utf8)
            if let known = isParameter ? nodes[node].parameter : nodes[node].texts.first(where: { $0.text == text })?.node {
                node = known
                continue
            }
            nodes.append(Node(namesServer: nodes[node].namesServer || segment == RoutePath.server))
            if isParameter { nodes[node].parameter = nodes.count - 1 } else { nodes[node].texts.append((text, nodes.count - 1)) }
            node = nodes.count - 1
        }
        precondition(nodes[node].endpoint == nil, "Two endpoints have the path \(pattern).")
        nodes[node].endpoint = endpoint
    }

    /// Returns the endpoint of a path, with its parameters; `nil` for an unknown path.
    package func find(_ path: Substring) -> Match? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        var parameters: [Substring] = []
        return find(path.utf8.dropFirst(), at: 0, &parameters)
    }

    private func find(_ path: Substring.UTF8View, at index: Int, _ parameters: inout [Substring]) -> Match? {
        let node = nodes[index]
        let end = path.firstIndex(of: UInt8(ascii: "/"))
        let segment = end.map { path[..<$0] } ?? path
        func next(_ child: Int, _ parameters: inout [Substring]) -> Match? {
            guard let end else { return match(nodes[child], parameters) }
            return find(path[path.index(after: end)...], at: child, &parameters)
        }
        for (text, child) in node.texts where text.count == segment.count && segment.elementsEqual(text) {
            if let match = next(child, &parameters) { return match }
        }
        if let child = node.parameter {
            parameters.append(Substring(segment))
            if let match = next(child, &parameters) { return match }
            parameters.removeLast()
        }
        return node.rest.map { Match(endpoint: endpoints[$0], parameters: []) }
    }

    private func match(_ node: Node, _ parameters: [Substring]) -> Match? {
        guard let endpoint = node.endpoint.map({ endpoints[$0] }) else { return nil }
        guard node.namesServer, let server = parameters.first else {
            return endpoint.admits(parameters) ? Match(endpoint: endpoint, parameters: parameters) : nil
        }
        let others = Array(parameters.dropFirst())
        guard Endpoint.areShort([server]), endpoint.admits(others) else { return nil }
        return Match(endpoint: endpoint, server: String(server), parameters: others)
    }
}
