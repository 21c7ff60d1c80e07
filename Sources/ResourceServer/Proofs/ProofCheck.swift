public import Foundation
public import JOSE

/// Sees to it that an access token came as it must: one that is bound to a key with a proof by that key, one that is not without
/// (RFC 9449 section 7).
struct ProofCheck: Sendable {
    /// How many seconds a proof may be from the future: as much as clocks differ that are set, for each of them is remembered longer.
    private static let tolerance: Double = 5

    private let rules: ProofRules
    private let used: ProofReplayCache

    init(_ rules: ProofRules) {
        self.rules = rules
        used = ProofReplayCache(capacity: rules.capacity)
    }

    /// Checks a token that came by the scheme `Bearer`: it must be bound to nothing, whatever that were.
    func checkBearer(_ token: AccessToken) throws(AccessTokenError) {
        guard token.claims["cnf"] != nil else { return }
        throw AccessTokenError(
            .keyNotProved, "The access token is bound to a key: send it with the scheme DPoP and a proof.")
    }

    /// Checks a token that came by the scheme `DPoP`, and uses its proof up.
    func check(_ proof: RequestProof, of token: AccessToken, text: String, now: Date) throws(AccessTokenError) {
        guard let thumbprint = token.keyThumbprint else {
            throw AccessTokenError(.notBound, "The access token is bound to no key: send it with the scheme Bearer.")
        }
        guard proof.values.count == 1 else {
            throw AccessTokenError(
                .badProof,
                proof.values.isEmpty ? "The request needs a proof in the header DPoP." : "The request has more than one DPoP header.")
        }
        let now = now.timeIntervalSince1970
        let genuine: DPoPProof
        do {
            genuine = try DPoPProof(verifying: proof.values[0])
            try genuine.check(method: proof.method, uri: proof.url, accessToken: text, window: rules.window, now: now)
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

/// What a resource server asks of proofs of possession (RFC 9449 section 7): of access tokens that are bound to a key.
public struct ProofRules: Sendable {
    /// The origin that clients reach the API by, `https://api.example.com`, and the path before its own, if a proxy takes one off. Proofs are
    /// compared with it, never with what a request's `Host` header says. Nil for an API that is only called on the machine that it
    /// runs on: then the request's own `http://localhost:{port}`, `127.0.0.1` or `[::1]` is good, and proofs for any other host are refused.
    public var origin: String?
    /// Seconds that a proof is accepted for after it was made, 1 to 600. One from the future is accepted up to five seconds before.
    public var window: TimeInterval
    /// The nonces that proofs must carry; nil demands none. Instances that share the load share their secret.
    public var nonces: DPoPNonces?
    /// The most proofs that are remembered, so that none is accepted twice, at least 1, and a sixteenth of them for each key. A request that
    /// would go beyond is answered 503.
    public var capacity: Int

    /// Says what is asked of proofs.
    ///
    /// - Parameters:
    ///   - origin: The origin that clients reach the API by; nil for an API that is only called on its own machine.
    ///   - window: Seconds that a proof is accepted for after it was made, 1 to 600.
    ///   - nonces: The nonces that proofs must carry; nil demands none.
    ///   - capacity: The most proofs that are remembered, each for the window and some seconds; 200,000 take about 20 MB. A key has a
    ///     sixteenth of them.
    public init(
        origin: String? = nil, window: TimeInterval = DPoPProof.standardWindow, nonces: DPoPNonces? = nil, capacity: Int = 200_000
    ) {
        self.origin = origin.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        self.window = min(max(window, 1), 600)
        self.nonces = nonces
        self.capacity = max(capacity, 1)
    }
}

/// The proof that came with an access token by the scheme `DPoP`, and the request that it has to be for; not yet checked.
public struct RequestProof: Sendable, Redacted {
    /// The values of the `DPoP` header fields: exactly one, or the request is refused.
    public var values: [String]
    /// The request's method.
    public var method: String
    /// The request's URL as its sender knows it.
    public var url: String

    /// Collects what a request carried.
    ///
    /// - Parameters:
    ///   - values: The values of the `DPoP` header fields.
    ///   - method: The request's method.
    ///   - url: The request's URL as its sender knows it; not what its `Host` header says.
    public init(values: [String], method: String, url: String) {
        self.values = values
        self.method = method
        self.url = url
    }

    /// What it has to be for; never the proof.
    public var description: String { "RequestProof(\(method) \(url))" }
}
