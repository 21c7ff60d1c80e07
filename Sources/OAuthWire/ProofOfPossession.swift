internal import Crypto
package import Foundation
package import IdentityCore
package import JOSE
package import Store

/// A valid proof of possession whose use is not yet committed.
package struct ProofOfPossession: Sendable {
    /// The thumbprint of the key that signed the proof.
    package let thumbprint: String
    /// Marks the proof as used. It is committed with the result of the request.
    package let use: AssertionUse
    /// The current nonce, for the client's next proof; `nil` if this proof already contains the current nonce.
    package let nextNonce: String?
}

/// Checks proofs of possession by the organization's rules (RFC 9449 section 4.3; Documentation/Protocol/OAuth.md §5.1). The commit, not
/// this type, enforces single use.
package struct ProofJudge: Sendable {
    private let nonces: DPoPNonces
    /// The nonces of the other master keys, which are accepted too.
    private let otherNonces: [DPoPNonces]

    /// Derives the keys of nonces from the master keys, so that all instances over one store agree.
    package init(masterKeys: MasterKeys) {
        nonces = Self.nonces(masterKeys.sealing)
        otherNonces = masterKeys.others.map(Self.nonces)
    }

    private static func nonces(_ masterKey: SymmetricKey) -> DPoPNonces {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: masterKey, info: Array("countersign dpop nonces".utf8), outputByteCount: 32)
        return DPoPNonces(secret: key.withUnsafeBytes { Array($0) })
    }

    /// Checks a proof except for its nonce and its single use. `accessToken` is `nil` at the token endpoint.
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

    /// Checks the nonce of a verified proof. A foreign or expired nonce is always rejected. A missing nonce is rejected only if
    /// `isDemanded`. Throws ``Refusal`` with `use_dpop_nonce` and the current nonce.
    package func possession(_ proof: DPoPProof, nonceIsDemanded isDemanded: Bool, now: Date) throws(Refusal) -> ProofOfPossession {
        let seconds = now.timeIntervalSince1970
        let current = nonces.current(at: seconds)
        if let nonce = proof.nonce {
            guard ([nonces] + otherNonces).contains(where: { $0.accepts(nonce, at: seconds) }) else {
                throw .useNonce(current, reason: "dpop: nonce is old or foreign")
            }
        } else if isDemanded {
            throw .useNonce(current, reason: "dpop: no nonce")
        }
        // The use is stored as long as any instance's clock accepts the proof.
        let use = AssertionUse(
            of: proof.jwtID, by: Self.issuer(of: proof), until: proof.issuedAt + DPoPProof.standardWindow + Self.clockDifference)
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

    /// The row that shows whether a proof was used before.
    package static func rowOfUse(_ proof: DPoPProof) -> Lookup.Node { AssertionUse.row(of: proof.jwtID, by: issuer(of: proof)) }

    private static func issuer(of proof: DPoPProof) -> String { "dpop \(proof.thumbprint)" }

    /// The allowed clock difference between two instances, in seconds.
    private static let clockDifference: Double = 60
}

extension Engine {
    package var proofs: ProofJudge { ProofJudge(masterKeys: environment.masterKeys) }
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
