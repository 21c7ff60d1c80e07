/// An issuer's keys (RFC 7517, 5).
///
/// As a collection it has the keys of the families that ``JWK`` knows. A key that can't be read is left out and harms no other; one of
/// another family (Ed25519) is not in the collection, and signatures are checked with it all the same.
public struct JWKS: Equatable, Hashable, Collection, Sendable {
    private let keys: [JWK]

    /// Every key as it was received, in order.
    let all: [JSON]

    init(all: [JSON]) {
        self.all = all
        keys = all.compactMap { try? JWK(json: $0) }
    }

    /// The key of that name.
    public subscript(keyId: String) -> JWK? {
        keys.first { $0.id == keyId }
    }

    /// The key at that position.
    public subscript(index: Int) -> JWK { keys[index] }

    /// The first position.
    public var startIndex: Int { keys.startIndex }

    /// The position after the last.
    public var endIndex: Int { keys.endIndex }

    /// The position after another.
    ///
    /// - Parameter i: A position.
    /// - Returns: The next.
    public func index(after i: Int) -> Int { keys.index(after: i) }

    /// Whether there is a key of that name, of any family.
    func contains(keyId: String) -> Bool {
        all.contains { $0["kid"]?.stringValue == keyId }
    }
}

extension JWKS: Codable {
    /// Reads a key set.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if there is no list of keys.
    public init(from decoder: any Decoder) throws {
        guard let keys = try JSON(from: decoder)["keys"]?.arrayValue else { throw ClaimError.missingRequiredValue(key: "keys") }
        self.init(all: keys.filter { $0.objectValue != nil })
    }

    /// Writes the key set with all keys as they were received.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: `EncodingError` if the encoder can't write JSON.
    public func encode(to encoder: any Encoder) throws {
        try JSON.object(["keys": .array(all)]).encode(to: encoder)
    }
}
