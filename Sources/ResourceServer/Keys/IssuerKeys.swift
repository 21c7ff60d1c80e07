internal import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// The issuer's metadata and keys. They are fetched on first use, when a token names an unknown key, and when they reach `maximumAge`.
/// Reading the cached value takes one short lock. At most one fetch runs at a time; all waiting callers share it, and cancelling one caller
/// does not affect the others. Tokens with invented key IDs cause at most one fetch per `refetchInterval`.
final class IssuerKeys<Prepared: Sendable>: Sendable {
    /// The fetched metadata and keys.
    struct Known: Sendable {
        /// The value that `prepare` made from the keys.
        var prepared: Prepared
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

    /// Returns the cached value; `nil` before the first fetch. Starts a fetch if the value is old, but does not wait for it.
    func knownNow() -> Known? { look().known }

    /// Returns the cached value. If none is cached, fetches it first. If it is old, one caller at a time fetches it again.
    /// The caller that starts the refresh of an old value waits for it, so that a rarely used API does not trust outdated keys. Other
    /// callers get the cached value. If the refresh fails, all callers get the cached value.
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

    /// Returns a value that is newer than `old`; `nil` if `refetchInterval` has not passed since the last attempt. The caller has found
    /// that `old` lacks a key.
    func newer(than old: Known) async throws -> Known? {
        let (known, attemptedAt) = state.withLockedValue { ($0.known, $0.attemptedAt) }
        if let known, known.fetchedAt > old.fetchedAt { return known }
        guard Self.isOver(refetchInterval, since: attemptedAt, now: now()) else { return nil }
        return try await fetch(replacing: old)
    }

    /// Returns the cached value, and the refresh that this call has started; `nil` for none. Starts a refresh only if the value is old, no
    /// fetch is running and `refetchInterval` has passed.
    private func look() -> (known: Known?, begun: Task<Known, any Error>?) {
        let now = now()
        return state.withLockedValue { state in
            guard let known = state.known, state.flight == nil, Self.isOver(maximumAge, since: known.fetchedAt, now: now),
                Self.isOver(refetchInterval, since: state.attemptedAt, now: now)
            else { return (state.known, nil) }
            return (known, begin(&state))
        }
    }

    /// Whether an interval has passed. A date in the future counts as passed, so that a clock that was set back cannot block fetches
    /// forever.
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
                // A failure also counts as an attempt, so that the issuer has time to recover. The cached keys stay in use.
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

    /// Whether keys can be fetched from a URL safely. An attacker could replace keys that are sent without TLS, so http is allowed for
    /// loopback only.
    private static func isSecure(_ url: URL) -> Bool {
        switch url.scheme {
        case "https": true
        case "http": ["localhost", "127.0.0.1", "::1", "[::1]"].contains(url.host())
        default: false
        }
    }
}
