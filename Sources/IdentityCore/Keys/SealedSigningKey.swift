internal import Crypto
internal import Foundation
internal import JOSE
internal import Store

/// A signing key as its record holds it: dates in the clear, the private key under the master key.
///
/// AES-GCM with the key's id as associated data, so that a sealed key cannot be moved to another record.
struct SealedSigningKey: Sendable {
    /// The key's thumbprint (RFC 7638): never used again for another key.
    let id: String
    let algorithm: JWSAlgorithm
    /// 1 for the first key of an algorithm. Two processes that rotate at the same time meet in this number.
    let ordinal: Int
    /// Since when it is published.
    let createdAt: Date
    /// Since when it signs.
    var signsFrom: Date
    /// Seconds that it stays published after it stopped signing.
    let publishedAfter: Int
    /// Nonce, cipher text and tag.
    private let sealed: [UInt8]
    /// The version of the stored record; 0 before it is stored.
    private(set) var version: Int64 = 0

    /// Seals a new key.
    init(
        _ key: SigningKey, ordinal: Int, createdAt: Date, signsFrom: Date, publishedAfter: Int, environment: EngineEnvironment
    ) throws {
        id = key.privateJWK.thumbprint
        algorithm = key.algorithm
        self.ordinal = ordinal
        self.createdAt = createdAt
        self.signsFrom = signsFrom
        self.publishedAfter = publishedAfter
        sealed = try RecordCoding.seal(
            key.privateJWK.json(includingPrivateMembers: true).serialized(), for: RecordReference(.signingKey, id), environment: environment
        )
    }

    /// Reads a record.
    /// - Throws: ``StoreError`` with ``StoreError/Code/damaged`` if it is no signing key.
    init(_ record: Record) throws {
        guard let json = try? JSONValue(parsing: record.payload),
            let algorithm = json["alg"]?.stringValue.flatMap(JWSAlgorithm.init(rawValue:)),
            let ordinal = json["ordinal"]?.intValue, let created = json["created"]?.intValue, let signs = json["signs"]?.intValue,
            let after = json["after"]?.intValue, let sealed = json["sealed"]?.stringValue, let bytes = try? Base64URL.decode(sealed)
        else { throw StoreError(.damaged, "The signing key \(record.id) cannot be read. Restore the data folder from a backup.") }
        id = record.id
        self.algorithm = algorithm
        self.ordinal = ordinal
        createdAt = Date(clampingNumericDate: Double(created))
        signsFrom = Date(clampingNumericDate: Double(signs))
        publishedAfter = after
        self.sealed = bytes
        version = record.version
    }

    /// The record to store.
    var record: Record {
        let json: JSONValue = [
            "alg": .string(algorithm.rawValue), "ordinal": .integer(Int64(ordinal)),
            "created": .integer(createdAt.numericDate),
            "signs": .integer(signsFrom.numericDate), "after": .integer(Int64(publishedAfter)),
            "sealed": .string(Base64URL.encode(sealed)),
        ]
        return Record(
            kind: .signingKey, id: id, version: version, uniqueKeys: ["slot": "\(algorithm.rawValue).\(ordinal)"],
            payload: json.serialized())
    }

    /// Opens the private key.
    /// - Throws: ``StoreError`` with ``StoreError/Code/damaged`` if the master key is another one, or the record was changed.
    func open(_ masterKey: SymmetricKey) throws -> SigningKey {
        let reference = RecordReference(.signingKey, id)
        var jwk = try JSONWebKey(parsing: try RecordCoding.open(sealed, for: reference, masterKey: masterKey))
        jwk.keyID = id
        return try SigningKey(jwk, algorithm: algorithm)
    }
}
