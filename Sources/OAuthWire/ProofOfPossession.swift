package import Crypto
package import Foundation
package import IdentityCore
package import JOSE

/// A valid proof of possession whose use is not yet committed.
package struct ProofOfPossession: Sendable {
    package let thumbprint: String
    /// Marks the proof as used; committed with the result of the request.
    package let use: AssertionUse
    /// The current nonce, for the client's next proof; `nil` if this proof contains it.
    package let nextNonce: String?
}

/// Checks proofs of possession by the organization's rules (RFC 9449 section 4.3; Documentation/Protocol/OAuth.md §5.1). The commit, not
/// this type, enforces single use.
package struct ProofJudge: Sendable {
    private let nonces: DPoPNonces

    /// Derives the key of nonces from the master key, so that all instances over one store agree.
    package init(masterKey: SymmetricKey) {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: masterKey, info: Array("countersign dpop nonces".utf8), outputByteCount: 32)
        nonces = DPoPNonces(secret: key.withUnsafeBytes { Array($0) })
    }

    /// Checks everything in a proof except its nonce. `accessToken` is `nil` at the token endpoint.
    package func genuine(_ presented: PresentedProof, with accessToken: String?, now: Date) -> Result<DPoPProof, Refusal> {
        do {
            return .success(
                try DPoPProof(
                    ofRequest: presented.values, method: presented.method, uri: presented.url, accessToken: accessToken,
                    now: now.timeIntervalSince1970))
        } catch {
            let count = presented.values.count
            return .failure(.invalidProof(error.message, reason: "dpop: \(count == 1 ? error.code.rawValue : "\(count) headers")"))
        }
    }

    /// Checks the nonce of a verified proof. A foreign or expired nonce is always rejected; a missing one only if `isDemanded`. Throws
    /// `use_dpop_nonce` with the current nonce.
    package func possession(_ proof: DPoPProof, nonceIsDemanded isDemanded: Bool, now: Date) throws(Refusal) -> ProofOfPossession {
        let seconds = now.timeIntervalSince1970
        let current = nonces.current(at: seconds)
        if let nonce = proof.nonce {
            guard nonces.accepts(nonce, at: seconds) else { throw .useNonce(current, reason: "dpop: nonce is old or foreign") }
        } else if isDemanded {
            throw .useNonce(current, reason: "dpop: no nonce")
        }
        // The use is stored as long as any instance's clock accepts the proof.
        let use = AssertionUse(
            of: proof.jwtID, by: "dpop \(proof.thumbprint)", until: proof.issuedAt + DPoPProof.standardWindow + Self.clockDifference)
        return ProofOfPossession(thumbprint: proof.thumbprint, use: use, nextNonce: proof.nonce == current ? nil : current)
    }

    /// Checks the proof of a request with an access token, without requiring a nonce. Returns `nil` without a proof; the caller then checks
    /// that the token is not bound (`ClaimSet.requireBinding(to:)`).
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

    /// The allowed clock difference between two instances, in seconds.
    private static let clockDifference: Double = 60
}

extension Engine {
    package var proofs: ProofJudge { ProofJudge(masterKey: environment.masterKey) }
}

extension Refusal {
    package static func invalidProof(_ description: String, reason: String) -> Refusal {
        Refusal(.invalidDPoPProof, description, reason: reason)
    }

    package static var usedProof: Refusal {
        .invalidProof("The proof was used before. Make a new one for each request.", reason: "dpop: used")
    }

    /// Returns `use_dpop_nonce`, with the nonce that the client must use.
    static func useNonce(_ nonce: String, reason: String) -> Refusal {
        var refusal = Refusal(.useDPoPNonce, "The proof must carry the nonce of the header DPoP-Nonce.", reason: reason)
        refusal.nextNonce = nonce
        return refusal
    }
}
