/// The parsed header of a JWS (RFC 7515 §4). Headers with critical extensions are rejected.
struct JOSEHeader: Sendable {
    let json: JSONValue
    let algorithm: JWSAlgorithm
    let keyID: String?
    let type: String?

    /// The limits of the parser, far above the size of real headers.
    static let limits = JSONValue.Limits(maximumSize: 8 << 10, maximumDepth: 8)

    init(parsing bytes: [UInt8]) throws(JOSEError) {
        try self.init(JSONValue(parsing: bytes, limits: Self.limits))
    }

    init(_ json: JSONValue) throws(JOSEError) {
        guard json.objectValue != nil else { throw JOSEError(.malformed, "The header of the token is no JSON object.") }
        self.json = json
        guard let name = try Self.string("alg", of: json) else {
            throw JOSEError(.malformed, "The header of the token names no algorithm (alg).")
        }
        guard let algorithm = JWSAlgorithm(rawValue: name) else {
            throw JOSEError(.unsupportedAlgorithm, "The token is signed with an algorithm that is not supported, or not signed at all.")
        }
        self.algorithm = algorithm
        keyID = try Self.string("kid", of: json)
        type = try Self.string("typ", of: json)
        // No extension is supported, so every critical extension is rejected (RFC 7515 §4.1.11).
        guard json["crit"] == nil else {
            throw JOSEError(.criticalHeader, "The token's header has critical extensions; none is supported.")
        }
    }

    private static func string(_ name: String, of json: JSONValue) throws(JOSEError) -> String? {
        guard let value = json[name] else { return nil }
        guard let string = value.stringValue else { throw JOSEError(.malformed, "The header's member \(name) is no string.") }
        return string
    }

    /// Whether the header has the expected type. Case and the prefix `application/` are ignored (RFC 7515 §4.1.9).
    func hasType(_ expected: String) -> Bool { type.map(Self.normalized) == Self.normalized(expected) }

    private static func normalized(_ type: String) -> String {
        let lowercased = type.lowercased()
        return lowercased.hasPrefix("application/") ? String(lowercased.dropFirst("application/".count)) : lowercased
    }
}
