#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The claims of a token (RFC 7519 §4).
/// Claims from ``JWTVerifier`` are verified. Reading a token only locates the claims; they are decoded on access. Registered claims have
/// the right types.
public struct ClaimSet: Sendable {
    private let payload: [UInt8]
    let index: ClaimIndex

    /// Reads claims that are unverified or do not come from a token.
    /// - Parameter payload: A JSON object in UTF-8.
    /// - Throws: ``JOSEError/Code/malformed``, ``JOSEError/Code/tooLarge`` or ``JOSEError/Code/tooDeep`` if the payload is not an
    ///   acceptable JSON object; ``JOSEError/Code/invalidClaim`` if a registered claim has the wrong type.
    public init(parsing payload: [UInt8], limits: JSONValue.Limits = .standard) throws(JOSEError) {
        index = try payload.withUnsafeBufferPointer { ClaimIndex.make(of: $0, limits: limits) }.get()
        self.payload = payload
    }

    /// Creates claims from a JSON object.
    /// - Throws: ``JOSEError/Code/malformed`` if the value is not an object; ``JOSEError/Code/tooLarge`` or ``JOSEError/Code/tooDeep`` if
    ///   the JSON text of the object exceeds ``JSONValue/Limits/standard``; ``JOSEError/Code/invalidClaim`` if a registered claim has the
    ///   wrong type.
    public init(_ value: JSONValue) throws(JOSEError) {
        try self.init(parsing: value.serialized())
    }

    /// The issuer of the token (`iss`); `nil` if absent.
    public var issuer: String? { string(at: index.issuer) }
    /// The subject of the token (`sub`); `nil` if absent.
    public var subject: String? { string(at: index.subject) }
    /// The audience of the token (`aud`); empty if absent.
    public var audience: [String] { strings(at: index.audience) }
    /// The expiration time (`exp`), in seconds since 1970; `nil` if absent.
    public var expiresAt: Double? { index.expiresAt }
    /// The time before which the token is not valid (`nbf`), in seconds since 1970; `nil` if absent.
    public var notBefore: Double? { index.notBefore }
    /// The issue time (`iat`), in seconds since 1970; `nil` if absent.
    public var issuedAt: Double? { index.issuedAt }
    /// The token's ID (`jti`); `nil` if absent.
    public var jwtID: String? { string(at: index.jwtID) }

    /// The expiration time (`exp`); `nil` if absent.
    public var expirationDate: Date? { expiresAt.map(Date.init(clampingNumericDate:)) }
    /// The issue time (`iat`); `nil` if absent.
    public var issueDate: Date? { issuedAt.map(Date.init(clampingNumericDate:)) }

    /// The scopes of the token, from `scp` or else from `scope`: an array, or a string separated by spaces. Empty if both are absent.
    public var scopes: [String] {
        guard let value = self["scp"] ?? self["scope"] else { return [] }
        return value.stringValue.map { $0.split(separator: " ").map(String.init) } ?? value.stringArrayValue ?? []
    }

    /// The client to which the token was issued: the first of `cid`, `client_id` and `azp` that is a string; `nil` if there is none.
    public var clientID: String? { self["cid"]?.stringValue ?? self["client_id"]?.stringValue ?? self["azp"]?.stringValue }

    /// The claim with this name; `nil` if the token has none.
    public subscript(name: String) -> JSONValue? {
        payload.withUnsafeBufferPointer { bytes in
            index.member(named: name, in: bytes).flatMap { index.value(of: $0, in: bytes) }
        }
    }

    /// The names of all claims, in the order of the token.
    public var names: [String] { payload.withUnsafeBufferPointer { bytes in index.members.map { index.name(of: $0, in: bytes) } } }

    /// All claims as a JSON object.
    public var json: JSONValue {
        let members = payload.withUnsafeBufferPointer { bytes in
            index.members.compactMap { member in index.value(of: member, in: bytes).map { (index.name(of: member, in: bytes), $0) } }
        }
        return .object(Dictionary(members, uniquingKeysWith: { first, _ in first }))
    }

    /// The claims in UTF-8, exactly as in the token.
    public var bytes: [UInt8] { payload }

    private func string(at position: Int?) -> String? {
        guard let position else { return nil }
        return payload.withUnsafeBufferPointer { index.value(of: index.members[position], in: $0)?.stringValue }
    }

    private func strings(at position: Int?) -> [String] {
        guard let position else { return [] }
        return payload.withUnsafeBufferPointer { bytes in
            guard let value = index.value(of: index.members[position], in: bytes) else { return [] }
            return value.stringValue.map { [$0] } ?? value.stringArrayValue ?? []
        }
    }

    /// Whether `iss` equals the expected value, byte by byte.
    func hasIssuer(_ expected: [UInt8]) -> Bool {
        guard let position = index.issuer else { return false }
        return payload.withUnsafeBufferPointer { index.isString(index.members[position], equalTo: expected, in: $0) }
    }

    /// Whether `aud` is or contains one of the expected values, byte by byte.
    func hasAudience(of expected: [[UInt8]]) -> Bool {
        guard let position = index.audience else { return false }
        let member = index.members[position]
        if member.kind == .string {
            return payload.withUnsafeBufferPointer { bytes in
                expected.contains { index.isString(member, equalTo: $0, in: bytes) }
            }
        }
        return strings(at: position).contains { value in expected.contains { $0.elementsEqual(value.utf8) } }
    }
}
