internal import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// The issuer's metadata and keys, fetched when they are first needed, again when a token names a key that is not among them, and
/// again when they are old: a key that the issuer withdrew is trusted no longer than `maximumAge`.
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
        var attemptedAt = Date.distantPast
        var flight: Task<Known, any Error>?
    }

    private let state = NIOLockedValueBox(State())
    private let issuer: String
    private let fetcher: any ResourceFetcher
    private let refetchInterval: TimeInterval
    private let maximumAge: TimeInterval
    private let now: @Sendable () -> Date
    private let prepare: @Sendable (JSONWebKeySet) throws -> Prepared

    init(
        issuer: String, fetcher: any ResourceFetcher, refetchInterval: TimeInterval, maximumAge: TimeInterval,
        now: @escaping @Sendable () -> Date,
        prepare: @escaping @Sendable (JSONWebKeySet) throws -> Prepared
    ) {
        self.issuer = issuer
        self.fetcher = fetcher
        self.refetchInterval = refetchInterval
        self.maximumAge = maximumAge
        self.now = now
        self.prepare = prepare
    }

    /// What was fetched last; nil before the first fetch. What is old is begun to be fetched again, and not waited for.
    func knownNow() -> Known? { look().known }

    /// What is known, fetched if nothing is, or if it is old.
    ///
    /// Who begins a fetch of what is old waits for it, so that an API that is called once a day does not trust yesterday's keys; who
    /// comes meanwhile goes on with what is known, and so does everybody when the fetch fails.
    func get() async throws -> Known {
        let (known, begun) = look()
        guard let known else { return try await fetch(replacing: nil) }
        guard let begun else { return known }
        do {
            return try await begun.value
        } catch {
            return known
        }
    }

    /// What the issuer says now, asked again because `old` did not have the key.
    ///
    /// - Returns: Something newer than `old`; nil if the issuer was asked so recently that it is not asked again.
    func newer(than old: Known) async throws -> Known? {
        let (known, attemptedAt) = state.withLockedValue { ($0.known, $0.attemptedAt) }
        if let known, known.fetchedAt > old.fetchedAt { return known }
        guard Self.isOver(refetchInterval, since: attemptedAt, now: now()) else { return nil }
        return try await fetch(replacing: old)
    }

    /// What is known, and the fetch that was begun because it is old; nil if it is not, or was tried a moment ago, or is under way.
    private func look() -> (known: Known?, begun: Task<Known, any Error>?) {
        let now = now()
        return state.withLockedValue { state in
            guard let known = state.known, state.flight == nil, Self.isOver(maximumAge, since: known.fetchedAt, now: now),
                Self.isOver(refetchInterval, since: state.attemptedAt, now: now)
            else { return (state.known, nil) }
            return (known, begin(&state))
        }
    }

    /// A clock that was set back must not stop the keys from being fetched for ever.
    private static func isOver(_ interval: TimeInterval, since date: Date, now: Date) -> Bool {
        let age = now.timeIntervalSince(date)
        return age >= interval || age < 0
    }

    private func fetch(replacing old: Known?) async throws -> Known {
        let flight = state.withLockedValue { state -> Task<Known, any Error> in
            if let flight = state.flight { return flight }
            if let known = state.known, known.fetchedAt != old?.fetchedAt { return Task { known } }
            return begin(&state)
        }
        return try await flight.value
    }

    private func begin(_ state: inout State) -> Task<Known, any Error> {
        let flight = Task { try await self.fly() }
        state.flight = flight
        return flight
    }

    private func fly() async throws -> Known {
        do {
            let known = try await ask()
            state.withLockedValue {
                $0.known = known
                $0.attemptedAt = known.fetchedAt
                $0.flight = nil
            }
            return known
        } catch {
            state.withLockedValue {
                $0.flight = nil
                // A failure counts as an attempt: the issuer gets time to recover, and the keys that are known stay good.
                $0.attemptedAt = now()
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
