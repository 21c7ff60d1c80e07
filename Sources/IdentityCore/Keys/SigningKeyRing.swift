package import Crypto
package import Foundation
package import JOSE
package import Store

/// The keys that an organization signs tokens with.
///
/// Each algorithm has a line of keys. A key is published when it is made, signs from a date on, stops when its successor
/// begins, and stays published for a while after that, so that every token it signed can be checked for its whole life. A
/// client that reads the key set only once still knows the key that signs days later. A `kid` is the key's thumbprint
/// (RFC 7638) and so never stands for another key.
///
/// A value, safe from any task; it is part of the engine's cached snapshot. ``Engine/maintainKeys(_:making:)`` moves
/// the line on.
package struct SigningKeyRing: Sendable {
    /// Seconds for which clients may cache the published keys (`Cache-Control: max-age`).
    package static let cacheLifetime = 3_600

    /// One key and its times.
    struct Entry: Sendable {
        let sealed: SealedSigningKey
        let signer: SigningKey
        let publicKey: JSONWebKey
        /// When its successor begins to sign; nil for the last of its line.
        var signsUntil: Date?

        var publishedUntil: Date? { signsUntil?.addingTimeInterval(TimeInterval(sealed.publishedAfter)) }
    }

    /// By algorithm, in the order in which they sign.
    private(set) var lines: [JWSAlgorithm: [Entry]] = [:]
    /// Checks the tokens that the ring signed. One for the ring, so that it remembers the tokens that it has seen.
    package let verification: TokenVerification

    /// Opens stored keys.
    ///
    /// - Parameters:
    ///   - records: The records of kind ``RecordKind/signingKey``, in any order; none is fine.
    ///   - masterKey: The key that they are sealed under.
    /// - Throws: ``StoreError`` if a record is damaged or sealed under another master key.
    package init(records: [Record], masterKey: SymmetricKey) throws {
        for record in records {
            let sealed = try SealedSigningKey(record)
            let signer = try sealed.open(masterKey)
            guard let publicKey = signer.publicKey else { continue }
            lines[sealed.algorithm, default: []].append(Entry(sealed: sealed, signer: signer, publicKey: publicKey))
        }
        for algorithm in lines.keys { lines[algorithm] = Self.inOrder(lines[algorithm] ?? []) }
        verification = TokenVerification(keys: lines.values.flatMap { $0.map(\.publicKey) })
    }

    private static func inOrder(_ line: [Entry]) -> [Entry] {
        var line = line.sorted { $0.sealed.ordinal < $1.sealed.ordinal }
        for index in line.indices.dropLast() { line[index].signsUntil = line[index + 1].sealed.signsFrom }
        return line
    }

    /// The key to sign with.
    ///
    /// - Parameters:
    ///   - algorithm: The requested algorithm; RS256 replaces an algorithm whose key does not sign yet.
    ///   - now: The wall clock.
    /// - Returns: The key, or nil if the organization has none at all yet.
    func signer(_ algorithm: JWSAlgorithm, now: Date) -> SigningKey? {
        let asked = [lines[algorithm], lines[.rs256]].compactMap(\.self)
        let signing = asked.lazy.compactMap { line in line.last { $0.sealed.signsFrom <= now } }.first
        return (signing ?? asked.first?.first)?.signer
    }

    /// The keys to publish at a server's `keys` endpoint: those that sign, will sign, or signed tokens that may still live.
    ///
    /// - Parameter now: The wall clock.
    /// - Returns: Public keys with `kid`, `use` and `alg`, RSA and EC only; those of the RS256 line first.
    package func publishedKeys(now: Date) -> JSONWebKeySet {
        let ordered = lines.sorted { ($0.key != .rs256 ? 1 : 0, $0.key.rawValue) < ($1.key != .rs256 ? 1 : 0, $1.key.rawValue) }
        return JSONWebKeySet(
            ordered.flatMap { line in
                line.value.filter { entry in entry.publishedUntil.map { $0 > now } ?? true }.map(\.publicKey)
            })
    }
}

/// Checks tokens that this organization signed itself, and remembers the last few thousand.
///
/// The clock is the signer's own, or that of another of its processes: a token is over exactly at `exp`, and a few seconds
/// are allowed for `iat`.
package struct TokenVerification: Sendable {
    private let cache: VerifiedTokenCache

    /// - Parameter keys: Every public key of the ring.
    init(keys: [JSONWebKey]) {
        let verifier = JWTVerifier(
            keys: JSONWebKeySet(keys), algorithms: Set(keys.compactMap(\.algorithm)), issuer: nil, audience: nil, leeway: 5)
        cache = VerifiedTokenCache(verifier: verifier)
    }

    /// The claims of a token of an issuer that is good now; nil for any other text.
    package func claims(of token: String, issuer: String, now: Date) -> ClaimSet? {
        // Whatever is wrong with the token, it is not one of ours: absent and refused mean the same here.
        guard let claims = try? cache.verify(token, now: now), claims.issuer == issuer, let end = claims.expiresAt,
            now.timeIntervalSince1970 < end
        else { return nil }
        return claims
    }

    /// The claims of a token of an issuer, also after its end: for one that says who somebody is and permits nothing.
    package func claims(ofHint token: String, issuer: String, now: Date) -> ClaimSet? {
        guard let end = (try? JSONWebSignature(parsing: token).unverifiedClaims())?.expiresAt else { return nil }
        // As it was in its last second: its end is what is not asked, everything else is.
        return claims(of: token, issuer: issuer, now: min(now, Date(clampingNumericDate: end - 1)))
    }
}
