#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The claims of a token (RFC 7519, section 4).
///
/// Made by ``JWTVerifier``, they are verified. Claims are found when the token is read, and made into values when asked for, so that
/// those that nobody asks for cost nothing. Registered claims have the right types, or the token was refused.
public struct ClaimSet: Sendable {
    private let payload: [UInt8]
    let index: ClaimIndex

    /// Reads claims that nobody verified, or that came in another way than in a token.
    ///
    /// - Parameters:
    ///   - payload: A JSON object in UTF-8.
    ///   - limits: The longest and deepest text to accept.
    /// - Throws: ``JOSEError/Code/malformed``, ``JOSEError/Code/tooLarge`` or ``JOSEError/Code/tooDeep`` if the payload is no acceptable JSON
    ///   object, ``JOSEError/Code/invalidClaim`` if a registered claim has the wrong type.
    public init(parsing payload: [UInt8], limits: JSONValue.Limits = .standard) throws(JOSEError) {
        index = try payload.withUnsafeBufferPointer { ClaimIndex.make(of: $0, limits: limits) }.get()
        self.payload = payload
    }

    /// Makes claims of a JSON value.
    ///
    /// - Parameter value: An object.
    /// - Throws: ``JOSEError/Code/malformed`` if it is no object, ``JOSEError/Code/invalidClaim`` if a registered claim has the wrong type.
    public init(_ value: JSONValue) throws(JOSEError) {
        try self.init(parsing: value.serialized())
    }

    // MARK: - Registered claims

    /// Who issued the token (`iss`).
    public var issuer: String? { string(at: index.issuer) }
    /// Whom the token is about (`sub`).
    public var subject: String? { string(at: index.subject) }
    /// Whom the token is for (`aud`); empty if it does not say.
    public var audience: [String] { strings(at: index.audience) }
    /// When the token expires (`exp`), in seconds since 1970.
    public var expiresAt: Double? { index.expiresAt }
    /// Before when the token is not valid (`nbf`), in seconds since 1970.
    public var notBefore: Double? { index.notBefore }
    /// When the token was issued (`iat`), in seconds since 1970.
    public var issuedAt: Double? { index.issuedAt }
    /// The token's id (`jti`).
    public var jwtID: String? { string(at: index.jwtID) }

    /// When the token expires (`exp`).
    public var expirationDate: Date? { expiresAt.map(Date.init(clampingNumericDate:)) }
    /// When the token was issued (`iat`).
    public var issueDate: Date? { issuedAt.map(Date.init(clampingNumericDate:)) }

    // MARK: - Claims of access tokens

    /// What the token permits: the strings of `scp` (an array, or separated by spaces), else of `scope`.
    public var scopes: [String] {
        guard let value = self["scp"] ?? self["scope"] else { return [] }
        return value.stringValue.map { $0.split(separator: " ").map(String.init) } ?? value.stringArrayValue ?? []
    }

    /// Which client the token was issued to: the first of `cid`, `client_id` and `azp` that is a string.
    public var clientID: String? { self["cid"]?.stringValue ?? self["client_id"]?.stringValue ?? self["azp"]?.stringValue }

    // MARK: - Any claim

    /// A claim by its name.
    ///
    /// - Parameter name: The name of a top-level member.
    public subscript(name: String) -> JSONValue? {
        payload.withUnsafeBufferPointer { bytes in
            index.member(named: name, in: bytes).flatMap { index.value(of: $0, in: bytes) }
        }
    }

    /// The names of all claims, in the order of the token.
    public var names: [String] { payload.withUnsafeBufferPointer { bytes in index.members.map { index.name(of: $0, in: bytes) } } }

    /// All claims as one JSON object.
    public var json: JSONValue {
        let members = payload.withUnsafeBufferPointer { bytes in
            index.members.compactMap { member in index.value(of: member, in: bytes).map { (index.name(of: member, in: bytes), $0) } }
        }
        return .object(Dictionary(members, uniquingKeysWith: { first, _ in first }))
    }

    /// The claims as they stand in the token, in UTF-8.
    public var bytes: [UInt8] { payload }

    // MARK: - For the verifier

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

    /// Whether `iss` is a value, compared byte by byte.
    func hasIssuer(_ expected: [UInt8]) -> Bool {
        guard let position = index.issuer else { return false }
        return payload.withUnsafeBufferPointer { index.isString(index.members[position], equalTo: expected, in: $0) }
    }

    /// Whether `aud` is or contains one of some values, compared byte by byte.
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
