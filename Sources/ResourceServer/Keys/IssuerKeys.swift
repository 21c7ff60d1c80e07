internal import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// The issuer's metadata and keys, fetched when they are first needed and again when a token names a key that is not among them.
///
/// Reading what is known takes one short lock and never waits. Fetching is done by one task at a time, which all that wait
/// share: the cancellation of one of them harms no other. A token with an invented key id can make the issuer be asked once per
/// `refetchInterval`, not more.
final class IssuerKeys<Prepared: Sendable>: Sendable {
    /// What the issuer says of itself.
    struct Known: Sendable {
        /// Made of the keys, ready to verify with.
        var prepared: Prepared
        /// Where tokens can be asked about.
        var introspectionEndpoint: URL?
        var fetchedAt: Date
    }

    private struct State {
        var known: Known?
        var flight: Task<Known, any Error>?
    }

    private let state = NIOLockedValueBox(State())
    private let issuer: String
    private let fetcher: any ResourceFetcher
    private let refetchInterval: TimeInterval
    private let now: @Sendable () -> Date
    private let prepare: @Sendable (JSONWebKeySet) throws -> Prepared

    init(
        issuer: String, fetcher: any ResourceFetcher, refetchInterval: TimeInterval, now: @escaping @Sendable () -> Date,
        prepare: @escaping @Sendable (JSONWebKeySet) throws -> Prepared
    ) {
        self.issuer = issuer
        self.fetcher = fetcher
        self.refetchInterval = refetchInterval
        self.now = now
        self.prepare = prepare
    }

    /// What was fetched last; nil before the first fetch.
    var known: Known? { state.withLockedValue(\.known) }

    /// What is known, fetched if nothing is.
    func get() async throws -> Known {
        if let known { return known }
        return try await fetch(replacing: nil)
    }

    /// What the issuer says now, asked again because `old` did not have the key.
    ///
    /// - Returns: Something newer than `old`; nil if the issuer was asked so recently that it is not asked again.
    func newer(than old: Known) async throws -> Known? {
        let known = known
        if let known, known.fetchedAt > old.fetchedAt { return known }
        // A clock that was set back must not stop the keys from being fetched for ever.
        let age = now().timeIntervalSince(old.fetchedAt)
        guard age >= refetchInterval || age < 0 else { return nil }
        return try await fetch(replacing: old)
    }

    private func fetch(replacing old: Known?) async throws -> Known {
        let flight = state.withLockedValue { state -> Task<Known, any Error> in
            if let flight = state.flight { return flight }
            if let known = state.known, known.fetchedAt != old?.fetchedAt { return Task { known } }
            let flight = Task { try await self.fly() }
            state.flight = flight
            return flight
        }
        return try await flight.value
    }

    private func fly() async throws -> Known {
        do {
            let known = try await ask()
            state.withLockedValue {
                $0.known = known
                $0.flight = nil
            }
            return known
        } catch {
            state.withLockedValue {
                $0.flight = nil
                // A failure counts as an attempt: the issuer gets time to recover, and the keys that are known stay good.
                $0.known?.fetchedAt = now()
            }
            throw error
        }
    }

    private func ask() async throws -> Known {
        guard let url = URL(string: issuer + "/.well-known/openid-configuration"), Self.isSecure(url) else {
            throw unavailable("The issuer is not an https URL (plain http is allowed for this machine only): \(issuer)")
        }
        let metadata = try await json(at: url)
        guard metadata["issuer"]?.stringValue == issuer else {
            throw unavailable("The metadata at \(url) is another issuer's: \(metadata["issuer"]?.stringValue ?? "none is named").")
        }
        guard let address = metadata["jwks_uri"]?.stringValue, let keysURL = URL(string: address), Self.isSecure(keysURL) else {
            throw unavailable("The metadata at \(url) has no usable jwks_uri.")
        }
        let document = try await json(at: keysURL)
        do {
            return Known(
                prepared: try prepare(JSONWebKeySet(document)),
                introspectionEndpoint: metadata["introspection_endpoint"]?.stringValue.flatMap(URL.init(string:))
                    .flatMap { Self.isSecure($0) ? $0 : nil },
                fetchedAt: now())
        } catch {
            throw unavailable("The document at \(keysURL) is no usable key set.", underlying: error)
        }
    }

    private func json(at url: URL) async throws -> JSONValue {
        let response: FetchResponse
        do {
            response = try await fetcher.fetch(FetchRequest(url: url))
        } catch {
            throw unavailable("The issuer can't be reached at \(url).", underlying: error)
        }
        guard response.status == 200, let value = try? JSONValue(parsing: response.body) else {
            throw unavailable("The issuer answered \(url) with status \(response.status) and no JSON that is of use.")
        }
        return value
    }

    private func unavailable(_ message: String, underlying: (any Error)? = nil) -> AccessTokenError {
        AccessTokenError(.issuerUnavailable, message, underlying: underlying)
    }

    /// Keys that travel in the clear can be replaced on the way, so only this machine may send them so.
    private static func isSecure(_ url: URL) -> Bool {
        switch url.scheme {
        case "https": true
        case "http": ["localhost", "127.0.0.1", "::1", "[::1]"].contains(url.host())
        default: false
        }
    }
}
