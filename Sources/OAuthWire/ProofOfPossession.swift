package import Crypto
package import Foundation
package import IdentityCore
package import JOSE

/// A proof that was found genuine, fresh, and made for its request; its use is still to be committed.
package struct ProofOfPossession: Sendable {
    /// The thumbprint of the key that made it.
    package let thumbprint: String
    /// Its use, so that it is good once; committed with what the request led to.
    package let use: AssertionUse
    /// The nonce that the client should use from now on; nil if it used that one.
    package let nextNonce: String?
}

/// Judges proofs by the rules of this organization (RFC 9449 section 4.3; oauth reference 5.1).
///
/// Pure, and asked once for a request that carries a proof: requests without one never come here. That a proof is used once
/// is for the commit to see to, as with client assertions.
package struct ProofJudge: Sendable {
    private let nonces: DPoPNonces

    /// - Parameter masterKey: The key of nonces is derived from it, so that all instances over one store agree.
    package init(masterKey: SymmetricKey) {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: masterKey, info: Array("countersign dpop nonces".utf8), outputByteCount: 32)
        nonces = DPoPNonces(secret: key.withUnsafeBytes { Array($0) })
    }

    /// Checks a proof, but for its nonce.
    ///
    /// - Parameters:
    ///   - presented: What the request carried.
    ///   - accessToken: The access token that it goes with; nil at the token endpoint.
    ///   - now: The time to judge by.
    /// - Returns: The genuine proof, or `invalid_dpop_proof`.
    package func genuine(_ presented: PresentedProof, with accessToken: String?, now: Date) -> Result<DPoPProof, Refusal> {
        do {
            guard presented.values.count == 1 else {
                let text =
                    presented.values.isEmpty
                    ? "The request needs a proof in the header DPoP." : "The request has more than one DPoP header."
                return .failure(.invalidProof(text, reason: "dpop: \(presented.values.count) headers"))
            }
            let proof = try DPoPProof(verifying: presented.values[0])
            try proof.check(
                method: presented.method, uri: presented.url, accessToken: accessToken, now: now.timeIntervalSince1970)
            return .success(proof)
        } catch {
            return .failure(.invalidProof(error.message, reason: "dpop: \(error.code.rawValue)"))
        }
    }

    /// Checks the nonce of a genuine proof.
    ///
    /// - Parameters:
    ///   - proof: The proof.
    ///   - isDemanded: Whether one without a nonce is refused. One that is not the server's own, or too old, always is.
    ///   - now: The time to judge by.
    /// - Returns: The proof, whose use is still to be committed.
    /// - Throws: ``Refusal`` with `use_dpop_nonce`, which brings the nonce to use.
    package func possession(_ proof: DPoPProof, nonceIsDemanded isDemanded: Bool, now: Date) throws(Refusal) -> ProofOfPossession {
        let seconds = now.timeIntervalSince1970
        let current = nonces.current(at: seconds)
        if let nonce = proof.nonce {
            guard nonces.accepts(nonce, at: seconds) else { throw .useNonce(current, reason: "dpop: nonce is old or foreign") }
        } else if isDemanded {
            throw .useNonce(current, reason: "dpop: no nonce")
        }
        // As long as any clock accepts it.
        let use = AssertionUse(
            of: proof.jwtID, by: "dpop \(proof.thumbprint)", until: proof.issuedAt + DPoPProof.standardWindow + Self.clockDifference)
        return ProofOfPossession(thumbprint: proof.thumbprint, use: use, nextNonce: proof.nonce == current ? nil : current)
    }

    /// Checks the proof of a request with an access token, where nonces are not demanded.
    ///
    /// - Parameters:
    ///   - presented: What the request carried; nil without the scheme `DPoP`, which is judged by whoever reads the token.
    ///   - accessToken: The token.
    ///   - now: The time to judge by.
    /// - Returns: The proof, nil if there is none to be judged; or why it is refused.
    package func possession(
        _ presented: PresentedProof?, with accessToken: String?, now: Date
    ) -> Result<ProofOfPossession?, Refusal> {
        guard let presented else { return .success(nil) }
        return genuine(presented, with: accessToken ?? "", now: now).flatMap { proof in
            do throws(Refusal) {
                return .success(try possession(proof, nonceIsDemanded: false, now: now))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Seconds that the clocks of two instances may differ.
    private static let clockDifference: Double = 60
}

extension Engine {
    /// The judge of proofs of possession.
    package var proofs: ProofJudge { ProofJudge(masterKey: environment.masterKey) }
}

extension Refusal {
    /// A proof that is not good for its request.
    package static func invalidProof(_ description: String, reason: String) -> Refusal {
        Refusal(.invalidDPoPProof, description, reason: reason)
    }

    /// A proof that somebody used before.
    package static var usedProof: Refusal {
        .invalidProof("The proof was used before. Make a new one for each request.", reason: "dpop: used")
    }

    /// The client is to repeat its request with a nonce.
    static func useNonce(_ nonce: String, reason: String) -> Refusal {
        var refusal = Refusal(.useDPoPNonce, "The proof must carry the nonce of the header DPoP-Nonce.", reason: reason)
        refusal.nextNonce = nonce
        return refusal
    }
}
