/// The keys of an issuer (RFC 7517 §5). The collection contains the keys with a type that ``JWK`` supports. Invalid keys are skipped. Keys
/// of other types (Ed25519) are not in the collection, but they also verify signatures.
public struct JWKS: Equatable, Hashable, Collection, Sendable {
    private let keys: [JWK]

    /// All keys as received, in order.
    let all: [JSON]

    init(all: [JSON]) {
        self.all = all
        keys = all.compactMap { try? JWK(json: $0) }
    }

    /// Returns the key with this identifier, or `nil` if there is none.
    public subscript(keyId: String) -> JWK? {
        keys.first { $0.id == keyId }
    }

    /// Returns the key at a position.
    public subscript(index: Int) -> JWK { keys[index] }

    /// The position of the first key.
    public var startIndex: Int { keys.startIndex }

    /// The position after the last key.
    public var endIndex: Int { keys.endIndex }

    /// Returns the position after `i`.
    public func index(after i: Int) -> Int { keys.index(after: i) }

    /// Whether there is a key with this identifier, of any type.
    func contains(keyId: String) -> Bool {
        all.contains { $0["kid"]?.string == keyId }
    }
}

extension JWKS: Codable {
    /// Decodes a key set.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if there is no list of keys.
    public init(from decoder: any Decoder) throws {
        guard let keys = try JSON(from: decoder)["keys"]?.array else { throw ClaimError.missingRequiredValue(key: "keys") }
        self.init(all: keys.filter { $0.object != nil }.map(JSON.init))
    }

    /// Encodes the key set with all keys as received.
    public func encode(to encoder: any Encoder) throws {
        try JSON(["keys": all]).encode(to: encoder)
    }
}
