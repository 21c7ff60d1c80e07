/// The header of a JWS (RFC 7515, section 4), checked for what no verifier may pass over.
struct JOSEHeader: Sendable {
    let json: JSONValue
    let algorithm: JWSAlgorithm
    let keyID: String?
    let type: String?

    /// No header that somebody uses comes near this.
    static let limits = JSONValue.Limits(maximumSize: 8 << 10, maximumDepth: 8)

    /// Reads a header.
    init(parsing bytes: [UInt8]) throws(JOSEError) {
        try self.init(JSONValue(parsing: bytes, limits: Self.limits))
    }

    /// Reads a header.
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
        // No extension is understood, so that any that must be understood is refused (section 4.1.11).
        guard json["crit"] == nil else {
            throw JOSEError(.criticalHeader, "The token's header has critical extensions; none is supported.")
        }
    }

    private static func string(_ name: String, of json: JSONValue) throws(JOSEError) -> String? {
        guard let value = json[name] else { return nil }
        guard let string = value.stringValue else { throw JOSEError(.malformed, "The header's member \(name) is no string.") }
        return string
    }

    /// Whether the header's type is an expected one; case and the prefix `application/` are of no meaning (section 4.1.9).
    func hasType(_ expected: String) -> Bool { type.map(Self.normalized) == Self.normalized(expected) }

    private static func normalized(_ type: String) -> String {
        let lowercased = type.lowercased()
        return lowercased.hasPrefix("application/") ? String(lowercased.dropFirst("application/".count)) : lowercased
    }
}
