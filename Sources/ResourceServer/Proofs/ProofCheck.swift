internal import Foundation
internal import JOSE

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
