public import Foundation

extension OAuth2Client {
    /// The minimum time in seconds between key fetches that are triggered by unknown key identifiers.
    private static let keyRefetchInterval: TimeInterval = 60

    /// Returns the issuer's discovery document. It is fetched once; errors are not cached.
    /// - Throws: ``InsecureURLError`` if a URL is neither https nor plain http on this machine; ``IssuerMismatchError`` if the document
    ///   names another issuer; ``APIClientError`` if the request fails.
    public func openIdConfiguration() async throws -> OpenIdConfiguration {
        if let known = openIdConfiguration { return known }
        let url = configuration.discoveryURL
        guard LoopbackRule.isAcceptable(url) else { throw InsecureURLError(url: url) }
        return try await discoveries.value(for: url) { [self] in
            if let known = openIdConfiguration { return known }
            let document = try await DiscoveryRequest(url: url).send(to: self).result
            try IssuerMismatchError.check(document.issuer, isExpected: configuration.issuerURL, or: configuration.trustedIssuers)
            for endpoint in [document.tokenEndpoint, document.jwksUri, document.authorizationEndpoint]
            where !LoopbackRule.isAcceptable(endpoint) {
                throw InsecureURLError(url: endpoint)
            }
            state.withLock { $0.openIdConfiguration = document }
            return document
        }
    }

    /// Returns the issuer's keys. They are fetched once, and again if a token names an unknown key. Errors are not cached.
    /// - Throws: ``APIClientError`` if the request fails, and the errors of ``openIdConfiguration()``.
    public func jwks() async throws -> JWKS { try await jwks(isRetried: true) }

    private func jwks(isRetried: Bool) async throws -> JWKS {
        if let known = jwks { return known }
        return try await fetchKeys(isRetried)
    }

    /// Returns the issuer's keys. If no key has this identifier, fetches the keys again, at most once a minute.
    /// - Parameter isRetried: Whether a fetch is repeated after a temporary failure.
    func jwks(containing keyId: String, isRetried: Bool = true) async throws -> JWKS {
        let known = try await jwks(isRetried: isRetried)
        guard !keyId.isEmpty, !known.contains(keyId: keyId) else { return known }
        let now = clock.now
        let mayFetch = state.withLock { state in
            if let last = state.keysRefetchedAt, abs(now.timeIntervalSince(last)) < Self.keyRefetchInterval { return false }
            state.keysRefetchedAt = now
            return true
        }
        // If a fetch is already running, wait for its result.
        let isRunning = [true, false].contains { keyFetches.isRunning(KeyFetch(url: configuration.discoveryURL, isRetried: $0)) }
        guard mayFetch || isRunning else { return jwks ?? known }
        do {
            return try await fetchKeys(isRetried)
        } catch {
            // Only a successful fetch starts the one-minute interval.
            state.withLock { if $0.keysRefetchedAt == now { $0.keysRefetchedAt = nil } }
            throw error
        }
    }

    private func fetchKeys(_ isRetried: Bool) async throws -> JWKS {
        // A caller that cannot wait for retries must not share a fetch that is repeated.
        try await keyFetches.value(for: KeyFetch(url: configuration.discoveryURL, isRetried: isRetried)) { [self] in
            let request = KeysRequest(
                openIdConfiguration: try await openIdConfiguration(), clientId: configuration.clientId, isRetried: isRetried)
            let keys = try await request.send(to: self).result
            state.withLock { $0.jwks = keys }
            return keys
        }
    }
}

/// The key of concurrent fetches of the issuer's keys that share one request.
struct KeyFetch: Hashable, Sendable {
    let url: URL
    let isRetried: Bool
}

/// Reports a URL that is neither https nor plain http on this machine.
public struct InsecureURLError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// The scheme and host of the URL.
    public let origin: String

    init(url: URL) {
        origin = "\(url.scheme ?? "?")://\(url.host() ?? "?")"
    }

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { .appSetup }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
        "\(origin) is not https. Plain http is allowed for loopback hosts (localhost, 127.0.0.1, ::1) only: give an https issuer."
    }
}

/// Reports that the discovery document names another issuer than the configuration (OpenID Connect Discovery 1.0 §4.3). The check prevents
/// one issuer from impersonating another.
public struct IssuerMismatchError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// The issuer in the configuration.
    public let expected: URL

    /// The issuer in the document.
    public let found: URL

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { .appSetup }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
        """
        The configuration names the issuer \(expected.absoluteString), and its discovery document is that of \(found.absoluteString). \
        If that is the one you mean, put it into the configuration as it is written there. If the first one is a custom domain of the same \
        organization, add the second one to trustedIssuers.
        """
    }

    /// Checks that an issuer is the expected one, or one of `others`. Ignores a trailing slash, because configurations often differ in it.
    static func check(_ found: URL, isExpected expected: URL, or others: Set<URL>) throws {
        func trimmed(_ url: URL) -> Substring { url.absoluteString.dropLast(url.absoluteString.hasSuffix("/") ? 1 : 0) }
        guard ([expected] + others).contains(where: { trimmed($0) == trimmed(found) }) else {
            throw IssuerMismatchError(expected: expected, found: found)
        }
    }
}
