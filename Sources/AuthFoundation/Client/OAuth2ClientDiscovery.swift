public import Foundation

extension OAuth2Client {
    /// How often at most the keys are fetched again because a token names one that is not known.
    private static let keyRefetchInterval: TimeInterval = 60

    /// The issuer's discovery document, fetched once.
    ///
    /// - Returns: The document.
    /// - Throws: ``InsecureURLError`` for plain http beyond this machine; ``IssuerMismatchError`` if the document is another issuer's;
    ///   ``APIClientError`` if it can't be fetched. None of them is remembered.
    public func openIdConfiguration() async throws -> OpenIdConfiguration {
        if let known = openIdConfiguration { return known }
        let url = configuration.discoveryURL
        guard LoopbackRule.isAcceptable(url) else { throw InsecureURLError(url: url) }
        return try await discoveries.value(for: url) { [self] in
            if let known = openIdConfiguration { return known }
            let document = try await DiscoveryRequest(url: url).send(to: self).result
            try IssuerMismatchError.check(document.issuer, isExpected: configuration.issuerURL)
            for endpoint in [document.tokenEndpoint, document.jwksUri, document.authorizationEndpoint]
            where !LoopbackRule.isAcceptable(endpoint) {
                throw InsecureURLError(url: endpoint)
            }
            state.withLock { $0.openIdConfiguration = document }
            return document
        }
    }

    /// The issuer's keys, fetched once, and again when a token names one that is not among them.
    ///
    /// - Returns: The keys.
    /// - Throws: ``APIClientError`` if they can't be fetched, which is not remembered.
    public func jwks() async throws -> JWKS {
        if let known = jwks { return known }
        return try await fetchKeys()
    }

    /// The issuer's keys with the one of that name, if the issuer has it: fetched again if need be, at most once a minute.
    func jwks(containing keyId: String) async throws -> JWKS {
        let known = try await jwks()
        guard !keyId.isEmpty, !known.contains(keyId: keyId) else { return known }
        let now = clock.now
        let mayFetch = state.withLock { state in
            if let last = state.keysRefetchedAt, abs(now.timeIntervalSince(last)) < Self.keyRefetchInterval { return false }
            state.keysRefetchedAt = now
            return true
        }
        // Whoever comes while another fetches them waits for the same answer.
        guard mayFetch || keyFetches.isRunning(configuration.discoveryURL) else { return jwks ?? known }
        do {
            return try await fetchKeys()
        } catch {
            // Only what was fetched is good for a minute.
            state.withLock { if $0.keysRefetchedAt == now { $0.keysRefetchedAt = nil } }
            throw error
        }
    }

    private func fetchKeys() async throws -> JWKS {
        try await keyFetches.value(for: configuration.discoveryURL) { [self] in
            let request = KeysRequest(openIdConfiguration: try await openIdConfiguration(), clientId: configuration.clientId)
            let keys = try await request.send(to: self).result
            state.withLock { $0.jwks = keys }
            return keys
        }
    }
}

/// A URL is plain http and not on this machine, or of another scheme altogether.
public struct InsecureURLError: Error, LocalizedError, Equatable, Sendable {
    /// The URL's scheme and host.
    public let origin: String

    init(url: URL) {
        origin = "\(url.scheme ?? "?")://\(url.host() ?? "?")"
    }

    /// What happened, and what to do next.
    public var errorDescription: String? {
        "\(origin) is not https. Plain http is allowed for loopback hosts (localhost, 127.0.0.1, ::1) only: give an https issuer."
    }
}

/// The discovery document names another issuer than the configuration (OpenID Connect Discovery 1.0, 4.3).
///
/// An issuer that could pass for another could sign people in as that one's.
public struct IssuerMismatchError: Error, LocalizedError, Equatable, Sendable {
    /// The issuer that the configuration names.
    public let expected: URL

    /// The issuer that the document names.
    public let found: URL

    /// What happened, and what to do next.
    public var errorDescription: String? {
        """
        The configuration names the issuer \(expected.absoluteString), and its discovery document is that of \(found.absoluteString). \
        If that is the one you mean, put it into the configuration as it is written there.
        """
    }

    /// A slash at the end is the one difference that is let pass: people write it or not.
    static func check(_ found: URL, isExpected expected: URL) throws {
        func trimmed(_ url: URL) -> Substring { url.absoluteString.dropLast(url.absoluteString.hasSuffix("/") ? 1 : 0) }
        guard trimmed(found) == trimmed(expected) else { throw IssuerMismatchError(expected: expected, found: found) }
    }
}
