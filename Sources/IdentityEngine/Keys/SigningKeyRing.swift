public import Crypto
public import Foundation
public import JOSE

/// The keys that an organization signs tokens with.
///
/// Each algorithm has a line of keys. A key is published when it is made, signs from a date on, stops when its successor
/// begins, and stays published for a while after that, so that every token it signed can be checked for its whole life. A
/// client that reads the key set only once still knows the key that signs days later. A `kid` is the key's thumbprint
/// (RFC 7638) and so never stands for another key.
///
/// A value, safe from any task; it is part of the engine's cached snapshot. ``IdentityEngine/maintainKeys(_:making:)`` moves
/// the line on.
public struct SigningKeyRing: Sendable {
    /// Seconds for which clients may cache the published keys (`Cache-Control: max-age`).
    public static let cacheLifetime = 3_600

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
    let verification: TokenVerification

    /// Opens stored keys.
    ///
    /// - Parameters:
    ///   - records: The records of kind ``RecordKind/signingKey``, in any order; none is fine.
    ///   - masterKey: The key that they are sealed under.
    /// - Throws: ``StoreError`` if a record is damaged or sealed under another master key.
    public init(records: [Record], masterKey: SymmetricKey) throws {
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
    public func publishedKeys(now: Date) -> JSONWebKeySet {
        let ordered = lines.sorted { ($0.key != .rs256 ? 1 : 0, $0.key.rawValue) < ($1.key != .rs256 ? 1 : 0, $1.key.rawValue) }
        return JSONWebKeySet(
            ordered.flatMap { line in
                line.value.filter { entry in entry.publishedUntil.map { $0 > now } ?? true }.map(\.publicKey)
            })
    }
}
