public import Foundation
public import JOSE

/// Checks the binding of access tokens: a key-bound token requires a proof by its key, and other tokens must be bearer tokens (RFC 9449
/// §7).
struct ProofCheck: Sendable {
    /// The seconds by which a proof may be in the future. Small, because such a proof must be remembered longer.
    private static let tolerance: Double = 5

    private let rules: ProofRules
    private let used: ProofReplayCache

    init(_ rules: ProofRules) {
        self.rules = rules
        used = ProofReplayCache(capacity: rules.capacity)
    }

    /// Checks a token that was sent with the scheme `Bearer`. It must have no `cnf` claim of any kind.
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
    /// The nonces that proofs must contain; `nil` requires none. Instances behind a load balancer need the same secret.
    public var nonces: DPoPNonces?
    /// The maximum number of proofs remembered to detect replays, at least 1. One key may use a sixteenth of it. Requests beyond the limit
    /// get a 503.
    public var capacity: Int

    /// Creates rules for proofs.
    /// - Parameters:
    ///   - origin: The origin under which clients reach the API; `nil` accepts proofs for loopback addresses only.
    ///   - window: The seconds for which a proof is accepted, 1 to 600.
    ///   - nonces: The nonces that proofs must contain; `nil` requires none.
    ///   - capacity: The maximum number of proofs remembered to detect replays; 200,000 take about 20 MB. One key may use a sixteenth of
    ///     it.
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
    /// The values of the `DPoP` header fields. A request must have exactly one.
    public var values: [String]
    /// The request's method.
    public var method: String
    /// The request's URL as the client knows it, not from its `Host` header.
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
