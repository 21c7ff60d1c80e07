public import Foundation
public import JOSE

/// A signed JSON Web Token (RFC 7519) as it was received.
///
/// Making one checks its structure only: use ``validate(using:)`` for the signature. A `Sendable` value type whose description shows
/// neither claims nor signature.
public struct JWT: RawRepresentable, Sendable, HasClaims, Expires {
    /// The names of its claims.
    public typealias ClaimType = JWTClaim

    /// What the signature is made with.
    public struct Header: Decodable, Sendable {
        /// The key's name, `kid`; empty if the token names none.
        public let keyId: String

        /// The algorithm, `alg`.
        public let algorithm: JWK.Algorithm

        private enum CodingKeys: String, CodingKey {
            case keyId = "kid"
            case algorithm = "alg"
            case critical = "crit"
        }

        /// Reads the token's first part.
        ///
        /// - Parameter decoder: The decoder.
        /// - Throws: `DecodingError` if there is no `alg`, or a member is no string; ``JWTError/badTokenStructure`` if there is `crit`,
        ///   which names extensions that must be understood, and none is (RFC 7515, 4.1.11).
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard !container.contains(.critical) else { throw JWTError.badTokenStructure }
            keyId = try container.decodeIfPresent(String.self, forKey: .keyId) ?? ""
            algorithm = try container.decode(JWK.Algorithm.self, forKey: .algorithm)
        }
    }

    /// The compact form.
    public let rawValue: String

    /// What the signature is made with.
    public let header: Header

    /// The claims as they were received.
    public let body: JSON

    /// Reads the compact form.
    ///
    /// - Parameter token: Three parts of base64url, separated by full stops.
    /// - Throws: ``JWTError/badTokenStructure`` or ``JWTError/invalidBase64Encoding``.
    public init(_ token: String) throws {
        guard token.utf8.count <= 1 << 20 else { throw JWTError.badTokenStructure }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw JWTError.badTokenStructure }
        guard let head = Data(base64URLEncoded: parts[0]), let payload = Data(base64URLEncoded: parts[1]),
            Data(base64URLEncoded: parts[2]) != nil
        else { throw JWTError.invalidBase64Encoding }
        do {
            header = try JSONDecoder().decode(Header.self, from: head)
            body = try JSON(payload)
        } catch {
            throw JWTError.badTokenStructure
        }
        guard body.objectValue != nil else { throw JWTError.badTokenStructure }
        rawValue = token
    }

    /// Reads the compact form.
    ///
    /// - Parameter rawValue: Three parts of base64url, separated by full stops.
    public init?(rawValue: String) {
        try? self.init(rawValue)
    }

    /// The claims by name.
    public var payload: [String: any Sendable] { body.claimPayload }

    /// The third part, as base64url.
    public var signature: String? {
        rawValue.split(separator: ".").dropFirst(2).first.map(String.init)
    }

    /// Who issued it.
    public var issuer: String? { self[.issuer] }

    /// Whom it is meant for: the first, if there are several.
    public var audience: String? { audiences?.first }

    /// Whom it is meant for.
    var audiences: [String]? {
        if let one: String = self[.audience] { return [one] }
        return self[.audience]
    }

    /// When it was issued.
    public var issuedAt: Date? { self[.issuedAt] }

    /// When it becomes good.
    public var notBefore: Date? { self[.notBefore] }

    /// When it expires.
    public var expirationTime: Date? { self[.expirationTime] }

    /// When it expires.
    public var expiresAt: Date? { expirationTime }

    /// For how many seconds it is good, counted from its issue; 0 if it does not say.
    public var expiresIn: TimeInterval {
        guard let expirationTime, let issuedAt else { return 0 }
        return expirationTime.timeIntervalSince(issuedAt)
    }

    /// The scopes that it stands for.
    public var scope: [String]? {
        if let list: [String] = self[.scope] { return list }
        let text: String? = self[.scope] ?? self["scope"]
        return text?.whitespaceSeparated
    }

    /// The assurance level that the sign-in reached.
    public var authenticationContext: String? { self[.authContextClassReference] }

    /// Checks the signature with the key that the token names.
    ///
    /// - Parameter keySet: The issuer's keys.
    /// - Returns: Whether the signature is good.
    /// - Throws: ``JWTError/invalidKey`` if the key is not in the set, ``JWTError/unsupportedAlgorithm(_:)`` if its algorithm can't be used.
    public func validate(using keySet: JWKS) throws -> Bool {
        try JWK.validator.validate(token: self, using: keySet)
    }
}

extension JWT: Equatable, Hashable {
    /// Whether both have the same compact form.
    public static func == (lhs: JWT, rhs: JWT) -> Bool { lhs.rawValue == rhs.rawValue }

    /// Hashes the compact form.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension JWT: Codable {
    /// Reads the compact form from a string.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if there is no string, and what ``init(_:)`` throws.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the compact form as a string.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: `EncodingError` if the encoder can't write a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension JWT: Redacted {
    /// Algorithm and key of the signature; no claims.
    public var description: String { "JWT(alg: \(header.algorithm.rawValue), kid: \(header.keyId))" }
}
