internal import Foundation
internal import JOSE
internal import Store

/// A signing key as stored: dates in plain text, the private key encrypted with the master key (AES-GCM). The key's id is the associated
/// data, so that a sealed key cannot be moved to another record.
struct SealedSigningKey: Sendable {
    /// The key's thumbprint (RFC 7638).
    let id: String
    let algorithm: JWSAlgorithm
    /// The number of the key: 1 for the first key of an algorithm. Concurrent rotations conflict on this number.
    let ordinal: Int
    /// The time when the key was created and published.
    let createdAt: Date
    /// The time when the key begins to sign.
    var signsFrom: Date
    /// Seconds for which the key stays published after it stopped signing.
    let publishedAfter: Int
    /// Nonce, ciphertext and tag.
    private var sealed: [UInt8]
    /// The version of the stored record; 0 before it is stored.
    private(set) var version: Int64 = 0

    init(
        _ key: SigningKey, ordinal: Int, createdAt: Date, signsFrom: Date, publishedAfter: Int, environment: EngineEnvironment
    ) throws {
        id = key.privateJWK.thumbprint
        algorithm = key.algorithm
        (self.ordinal, self.createdAt, self.signsFrom, self.publishedAfter) = (ordinal, createdAt, signsFrom, publishedAfter)
        sealed = try RecordCoding.seal(
            key.privateJWK.json(includingPrivateMembers: true).serialized(), for: RecordReference(.signingKey, id), environment: environment
        )
    }

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

    private var reference: RecordReference { RecordReference(.signingKey, id) }

    var secret: SealedSecret { SealedSecret(sealed, of: reference) }

    /// Returns the key, encrypted with the first master key; `nil` if that key sealed it.
    func resealed(_ environment: EngineEnvironment) throws -> SealedSigningKey? {
        guard let secret = try RecordCoding.resealed(sealed, for: reference, environment: environment) else { return nil }
        var next = self
        next.sealed = secret
        return next
    }

    /// Decrypts the private key. Throws ``StoreError/Code/damaged`` if no master key opens it or the record was modified.
    func open(_ masterKeys: MasterKeys) throws -> SigningKey {
        var jwk = try JSONWebKey(parsing: try RecordCoding.open(sealed, for: reference, masterKeys: masterKeys))
        jwk.keyID = id
        return try SigningKey(jwk, algorithm: algorithm)
    }
}
