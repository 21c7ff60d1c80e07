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
