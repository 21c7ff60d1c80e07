/// A JSON Web Key Set (RFC 7517 §5).
public struct JSONWebKeySet: Sendable, Hashable {
    /// The keys, in the order of the document.
    public var keys: [JSONWebKey]

    /// Creates a set.
    public init(_ keys: [JSONWebKey] = []) { self.keys = keys }

    /// Parses the JSON text of a set. Keys of an unknown type and malformed keys are skipped (RFC 7517 §5).
    /// - Throws: ``JOSEError/Code/malformed`` if the text is not a JSON object with an array `keys`; ``JOSEError/Code/tooLarge`` or
    ///   ``JOSEError/Code/tooDeep`` if it exceeds ``JSONValue/Limits/standard``.
    public init(parsing json: some Collection<UInt8>) throws(JOSEError) {
        try self.init(JSONValue(parsing: json))
    }

    /// Reads a set from a JSON object, like ``init(parsing:)``.
    /// - Throws: ``JOSEError/Code/malformed`` if the value is not an object with an array `keys`.
    public init(_ value: JSONValue) throws(JOSEError) {
        guard let elements = value["keys"]?.arrayValue else {
            throw JOSEError(.malformed, "A JSON Web Key Set is a JSON object with an array named keys (RFC 7517, section 5).")
        }
        // An unreadable key does no harm: a token that needs it is rejected because its key is unknown.
        keys = elements.compactMap { try? JSONWebKey($0) }
    }

    /// Returns the set as a JSON object with the public parts only. Secrets are omitted.
    public func json() -> JSONValue {
        ["keys": .array(keys.compactMap { $0.publicKey?.json(includingPrivateMembers: false) })]
    }

    /// The first key with an ID (`kid`).
    public subscript(keyID keyID: String) -> JSONWebKey? { keys.first { $0.keyID == keyID } }
}

/// Encodes the public parts only, in the format of RFC 7517.
extension JSONWebKeySet: Codable {
    /// Decodes a set, like ``init(_:)-(JSONValue)``.
    /// - Throws: `DecodingError`, or ``JOSEError/Code/malformed`` if the value is not a set.
    public init(from decoder: any Decoder) throws {
        try self.init(JSONValue(from: decoder))
    }

    /// Encodes the public parts of the keys.
    public func encode(to encoder: any Encoder) throws {
        try json().encode(to: encoder)
    }
}
