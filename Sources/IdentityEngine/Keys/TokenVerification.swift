internal import Foundation
internal import JOSE

/// Checks tokens that this organization signed itself, and remembers the last few thousand.
///
/// The clock is the signer's own, or that of another of its processes: a token is over exactly at `exp`, and a few seconds
/// are allowed for `iat`.
struct TokenVerification: Sendable {
    private let cache: VerifiedTokenCache

    /// - Parameter keys: Every public key of the ring.
    init(keys: [JSONWebKey]) {
        let verifier = JWTVerifier(
            keys: JSONWebKeySet(keys), algorithms: Set(keys.compactMap(\.algorithm)), issuer: nil, audience: nil, leeway: 5)
        cache = VerifiedTokenCache(verifier: verifier)
    }

    /// The claims of a token of an issuer that is good now; nil for any other text.
    func claims(of token: String, issuer: String, now: Date) -> ClaimSet? {
        // Whatever is wrong with the token, it is not one of ours: absent and refused mean the same here.
        guard let claims = try? cache.verify(token, now: now), claims.issuer == issuer, let end = claims.expiresAt,
            now.timeIntervalSince1970 < end
        else { return nil }
        return claims
    }

    /// The claims of a token of an issuer, also after its end: for one that says who somebody is and permits nothing.
    func claims(ofHint token: String, issuer: String, now: Date) -> ClaimSet? {
        guard let end = (try? JSONWebSignature(parsing: token).unverifiedClaims())?.expiresAt else { return nil }
        // As it was in its last second: its end is what is not asked, everything else is.
        return claims(of: token, issuer: issuer, now: min(now, Date(clampingNumericDate: end - 1)))
    }
}
