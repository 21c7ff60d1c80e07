package import Foundation
package import JOSE
package import Store

/// The keys with which an organization signs tokens. Each algorithm has a line of keys. A key is published when it is created and signs
/// from a later date until its successor begins. It then stays published until every token that it signed has expired. A client that reads
/// the key set only once therefore knows the key that signs days later. ``Engine/maintainKeys(_:making:)`` adds and removes keys.
package struct SigningKeyRing: Sendable {
    /// Seconds for which clients may cache the published keys (`Cache-Control: max-age`).
    package static let cacheLifetime = 3_600

    struct Entry: Sendable {
        let sealed: SealedSigningKey
        let signer: SigningKey
        let publicKey: JSONWebKey
        /// The time when the key's successor begins to sign; `nil` for the last key of its line.
        var signsUntil: Date?

        var publishedUntil: Date? { signsUntil?.addingTimeInterval(TimeInterval(sealed.publishedAfter)) }
    }

    /// The keys by algorithm, in the order in which they sign.
    private(set) var lines: [JWSAlgorithm: [Entry]] = [:]
    /// Verifies tokens that the ring signed. One instance, because it caches verified tokens.
    package let verification: TokenVerification

    /// Opens stored records of kind ``RecordKind/signingKey``, in any order. Throws ``StoreError`` if a record is damaged or sealed under
    /// another master key than these.
    package init(records: [Record], masterKeys: MasterKeys) throws {
        for record in records {
            let sealed = try SealedSigningKey(record)
            let signer = try sealed.open(masterKeys)
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

    /// Returns the key that signs now. If the algorithm has no key, or none that signs yet, returns the RS256 key. Throws ``StoreError`` if
    /// the organization has neither a key of this algorithm nor an RS256 key.
    func signer(_ algorithm: JWSAlgorithm, now: Date) throws -> SigningKey {
        let asked = [lines[algorithm], lines[.rs256]].compactMap(\.self)
        let signing = asked.lazy.compactMap { line in line.last { $0.sealed.signsFrom <= now } }.first
        guard let entry = signing ?? asked.first?.first else {
            throw StoreError(.damaged, "The organization has no signing key yet. Call maintainKeys at start, before the first request.")
        }
        return entry.signer
    }

    /// Returns the seconds since the current key of each algorithm began to sign.
    package func ages(now: Date) -> [JWSAlgorithm: TimeInterval] {
        lines.compactMapValues { line in line.last { $0.sealed.signsFrom <= now }.map { now.timeIntervalSince($0.sealed.signsFrom) } }
    }

    /// Returns the public keys for a server's `keys` endpoint: those that sign, will sign, or signed tokens that may still be valid. RSA
    /// and EC only, RS256 first.
    package func publishedKeys(now: Date) -> JSONWebKeySet {
        let ordered = lines.sorted { ($0.key != .rs256 ? 1 : 0, $0.key.rawValue) < ($1.key != .rs256 ? 1 : 0, $1.key.rawValue) }
        return JSONWebKeySet(
            ordered.flatMap { line in
                line.value.filter { entry in entry.publishedUntil.map { $0 > now } ?? true }.map(\.publicKey)
            })
    }
}

/// Verifies tokens that this organization signed, and caches the last few thousand. A process of the same server signed them, so the clocks
/// hardly differ: `exp` has no leeway, and `iat` has five seconds.
package struct TokenVerification: Sendable {
    private let cache: VerifiedTokenCache

    init(keys: [JSONWebKey]) {
        let verifier = JWTVerifier(
            keys: JSONWebKeySet(keys), algorithms: Set(keys.compactMap(\.algorithm)), issuer: nil, audience: nil, leeway: 5)
        cache = VerifiedTokenCache(verifier: verifier)
    }

    /// Returns the claims of a token that is valid now and has this issuer; `nil` otherwise.
    package func claims(of token: String, issuer: String, now: Date) -> ClaimSet? {
        // The error is ignored: every invalid token is treated as absent.
        guard let claims = try? cache.verify(token, now: now), claims.issuer == issuer, let end = claims.expiresAt,
            now.timeIntervalSince1970 < end
        else { return nil }
        return claims
    }

    /// Returns the claims of a token of this issuer, even after its expiry. Use it only for tokens that identify a user but permit nothing
    /// by themselves, such as `id_token_hint`.
    package func claims(ofHint token: String, issuer: String, now: Date) -> ClaimSet? {
        guard let end = (try? JSONWebSignature(parsing: token).unverifiedClaims())?.expiresAt else { return nil }
        // Verifies the token as of its last valid second, to ignore only its expiry.
        return claims(of: token, issuer: issuer, now: min(now, Date(clampingNumericDate: end - 1)))
    }
}
