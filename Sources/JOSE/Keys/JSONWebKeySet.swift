/// A set of JSON Web Keys (RFC 7517, section 5).
public struct JSONWebKeySet: Sendable, Hashable {
    /// The keys, in the order of the document.
    public var keys: [JSONWebKey]

    /// Makes a set.
    ///
    /// - Parameter keys: The keys.
    public init(_ keys: [JSONWebKey] = []) { self.keys = keys }

    /// Parses a set; keys of an unknown type, or with members that are absent or wrong, are passed over, as the RFC advises.
    ///
    /// - Parameter json: The JSON text of a set.
    /// - Throws: ``JOSEError/Code/malformed`` if the text is no JSON object with an array `keys`, or is longer or deeper than
    ///   ``JSONValue/Limits/standard``.
    public init(parsing json: some Collection<UInt8>) throws(JOSEError) {
        try self.init(JSONValue(parsing: json))
    }

    /// Reads a set from a JSON value, as ``init(parsing:)`` does.
    ///
    /// - Parameter value: An object with an array `keys`.
    /// - Throws: ``JOSEError/Code/malformed`` if it is no such object.
    public init(_ value: JSONValue) throws(JOSEError) {
        guard let elements = value["keys"]?.arrayValue else {
            throw JOSEError(.malformed, "A JSON Web Key Set is a JSON object with an array named keys (RFC 7517, section 5).")
        }
        // A key that cannot be read is of no use and no harm: a token that needs it will name it as unknown.
        keys = elements.compactMap { try? JSONWebKey($0) }
    }

    /// The set as a JSON value, with the public parts only; secrets are left out.
    ///
    /// - Returns: An object with an array `keys`.
    public func json() -> JSONValue {
        ["keys": .array(keys.compactMap { $0.publicKey?.json(includingPrivateMembers: false) })]
    }

    /// The first key with an id.
    ///
    /// - Parameter keyID: The `kid`.
    public subscript(keyID keyID: String) -> JSONWebKey? { keys.first { $0.keyID == keyID } }
}

/// In the form of RFC 7517, with the public parts only.
extension JSONWebKeySet: Codable {
    /// Reads a set, as ``init(_:)-(JSONValue)`` does.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: `DecodingError`; ``JOSEError/Code/malformed`` if it is no set.
    public init(from decoder: any Decoder) throws {
        try self.init(JSONValue(from: decoder))
    }

    /// Writes the public parts of the keys.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try json().encode(to: encoder)
    }
}
