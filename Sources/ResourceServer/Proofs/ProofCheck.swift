public import Foundation
public import JOSE
internal import NIOConcurrencyHelpers

/// The check of the key binding of access tokens (RFC 9449 §7). A key-bound token requires a proof by its key. A token that is not bound to
/// a key must be sent with the scheme `Bearer`.
struct ProofCheck: Sendable {
    /// The seconds by which a proof may be in the future. The value is small, because a proof from the future must be remembered longer.
    private static let tolerance: Double = 5

    private let rules: ProofRules
    private let used: ProofReplayCache

    init(_ rules: ProofRules) {
        self.rules = rules
        used = ProofReplayCache(capacity: rules.capacity)
    }

    /// Checks a token that was sent with the scheme `Bearer`. The token must have no `cnf` claim of any kind.
    func checkBearer(_ token: AccessToken) throws(AccessTokenError) {
        guard token.claims["cnf"] != nil else { return }
        throw AccessTokenError(
            .keyNotProved, "The access token is bound to a key: send it with the scheme DPoP and a proof.")
    }

    /// Checks a token that was sent with the scheme `DPoP`, and marks its proof as used.
    func check(_ proof: RequestProof, of token: AccessToken, text: String, now: Date) throws(AccessTokenError) {
        guard let thumbprint = token.keyThumbprint else {
            throw AccessTokenError(.notBound, "The access token is bound to no key: send it with the scheme Bearer.")
        }
        let now = now.timeIntervalSince1970
        let genuine: DPoPProof
        do {
            genuine = try DPoPProof(
                ofRequest: proof.values, method: proof.method, uri: proof.url, accessToken: text, window: rules.window, now: now)
        } catch {
            throw AccessTokenError(.badProof, error.message, underlying: error)
        }
        guard genuine.issuedAt <= now + Self.tolerance else {
            throw AccessTokenError(.badProof, "The proof is from the future (iat); check the clock.")
        }
        guard genuine.thumbprint == thumbprint else {
            throw AccessTokenError(.keyNotProved, "The access token is bound to another key than the one that made the proof.")
        }
        try checkNonce(of: genuine, now: now)
        switch used.use(genuine.fingerprint(), of: thumbprint, until: genuine.issuedAt + rules.window, now: now) {
        case .fresh: return
        case .used: throw AccessTokenError(.badProof, "The proof was used before. Make a new one for each request.")
        case .full: throw AccessTokenError(.busy, "Too many proofs at a time. Wait a moment and try again.")
        }
    }

    private func checkNonce(of proof: DPoPProof, now: Double) throws(AccessTokenError) {
        guard let nonces = rules.nonces else { return }
        if let nonce = proof.nonce, nonces.accepts(nonce, at: now) { return }
        throw AccessTokenError(
            .nonceNeeded, "The proof must carry the nonce of the header DPoP-Nonce.", nonce: nonces.current(at: now))
    }
}

/// The rules of a resource server for DPoP proofs (RFC 9449 §7).
public struct ProofRules: Sendable {
    /// The origin under which clients reach the API, such as `https://api.example.com`, with any path prefix that a proxy removes. Proofs
    /// must match this origin, not the request's `Host`. If `nil`, proofs are accepted only for `http://localhost`, `127.0.0.1` and
    /// `[::1]`.
    public var origin: String?
    /// The seconds for which a proof is accepted, 1 to 600. A proof may be at most five seconds in the future.
    public var window: TimeInterval
    /// The nonces that proofs must contain; `nil` if proofs need no nonce. Instances behind a load balancer need the same secret.
    public var nonces: DPoPNonces?
    /// The maximum number of proofs remembered to detect replays, at least 1. One key may use a sixteenth of this number. Requests beyond
    /// these limits are rejected with 503.
    public var capacity: Int

    /// Creates rules for proofs.
    /// - Parameters:
    ///   - origin: The origin under which clients reach the API; `nil` accepts proofs for loopback addresses only.
    ///   - window: The seconds for which a proof is accepted, 1 to 600.
    ///   - nonces: The nonces that proofs must contain; `nil` if proofs need no nonce.
    ///   - capacity: The maximum number of proofs remembered to detect replays; 200,000 take about 20 MB. One key may use a sixteenth of
    ///     this number.
    public init(
        origin: String? = nil, window: TimeInterval = DPoPProof.standardWindow, nonces: DPoPNonces? = nil, capacity: Int = 200_000
    ) {
        self.origin = origin.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        self.window = min(max(window, 1), 600)
        self.nonces = nonces
        self.capacity = max(capacity, 1)
    }
}

/// An unverified DPoP proof, with the method and URL of the request that it must match.
public struct RequestProof: Sendable, Redacted {
    /// The values of the `DPoP` header fields. A request must have exactly one field.
    public var values: [String]
    /// The request's method.
    public var method: String
    /// The request's URL as the client knows it. Do not build the URL from the `Host` header.
    public var url: String

    /// Creates a proof from the values of a request.
    public init(values: [String], method: String, url: String) {
        self.values = values
        self.method = method
        self.url = url
    }

    /// The method and URL; never the proof.
    public var description: String { "RequestProof(\(method) \(url))" }
}

/// A cache that remembers accepted proofs until they expire, so that no proof is accepted twice (RFC 9449 §11.1).
/// A full cache accepts no more proofs, because a forgotten proof could be replayed. Each key may use a sixteenth of the capacity, so that
/// one client cannot fill the cache. Proofs are grouped by expiry, which makes removal cheap. Thread-safe, with one short lock.
final class ProofReplayCache: Sendable {
    enum Outcome: Equatable, Sendable {
        case fresh, used, full
    }

    /// The first 16 bytes of a fingerprint. For a SHA-256 hash, collisions are infeasible.
    private struct Fingerprint: Hashable, Sendable {
        let high: UInt64
        let low: UInt64

        init(_ bytes: [UInt8]) {
            high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            low = bytes.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    private struct State: Sendable {
        var known: Set<Fingerprint> = []
        var endings: [Int: [(proof: Fingerprint, key: Fingerprint)]] = [:]
        /// The number of remembered proofs of each key. Keys without remembered proofs are absent.
        var shares: [Fingerprint: Int] = [:]
        /// The oldest time slice that has not been removed.
        var oldest = Int.min
    }

    /// The length of a time slice, in seconds. The proofs of a slice are removed together.
    private static let slice: Double = 15

    private let capacity: Int
    private let share: Int
    private let state = NIOLockedValueBox(State())

    init(capacity: Int) {
        self.capacity = capacity
        share = max(capacity / 16, 1)
    }

    var count: Int { state.withLockedValue { $0.known.count } }

    /// Marks a proof as used, unless it was used before or the cache is full.
    /// - Parameters:
    ///   - fingerprint: A hash that identifies the proof, at least 16 bytes.
    ///   - thumbprint: The thumbprint of the key that signed the proof.
    ///   - end: The time until which the proof is accepted, in seconds since 1970.
    ///   - now: The current time, in seconds since 1970.
    func use(_ fingerprint: [UInt8], of thumbprint: String, until end: Double, now: Double) -> Outcome {
        let (proof, key) = (Fingerprint(fingerprint), Fingerprint(Array(thumbprint.utf8)))
        let (slice, present) = (Int(clamping: end / Self.slice), Int(clamping: now / Self.slice))
        return state.withLockedValue { state in
            if state.oldest < present {
                for ended in state.endings.keys where ended < present {
                    for (proof, key) in state.endings.removeValue(forKey: ended) ?? [] {
                        state.known.remove(proof)
                        let left = (state.shares[key] ?? 1) - 1
                        state.shares[key] = left > 0 ? left : nil
                    }
                }
                state.oldest = present
            }
            // Rejects proofs that belong to removed slices. After the clock was set back, replays of such proofs could not be detected.
            guard slice >= state.oldest, !state.known.contains(proof) else { return .used }
            guard state.known.count < capacity, state.shares[key, default: 0] < share else { return .full }
            state.known.insert(proof)
            state.shares[key, default: 0] += 1
            state.endings[slice, default: []].append((proof, key))
            return .fresh
        }
    }
}
