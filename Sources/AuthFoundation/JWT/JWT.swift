public import Foundation
public import JOSE

/// A signed JSON Web Token (RFC 7519). Creating a token checks only its structure; verify the signature with ``validate(using:)``. The
/// description of a token contains neither claims nor signature.
public struct JWT: RawRepresentable, Sendable, HasClaims, Expires {
    /// The names of the claims.
    public typealias ClaimType = JWTClaim

    /// The key and algorithm of the signature.
    public struct Header: Decodable, Sendable {
        /// The key identifier, `kid`, or an empty string if there is none.
        public let keyId: String

        /// The algorithm, `alg`.
        public let algorithm: JWK.Algorithm

        private enum CodingKeys: String, CodingKey {
            case keyId = "kid"
            case algorithm = "alg"
            case critical = "crit"
        }

        /// Decodes the first part of a token.
        /// - Throws: `DecodingError` if `alg` is missing or a member is not a string; ``JWTError/badTokenStructure`` if there is a `crit`
        ///   member, because no extension is supported (RFC 7515 §4.1.11).
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard !container.contains(.critical) else { throw JWTError.badTokenStructure }
            keyId = try container.decodeIfPresent(String.self, forKey: .keyId) ?? ""
            algorithm = try container.decode(JWK.Algorithm.self, forKey: .algorithm)
        }
    }

    /// The compact form.
    public let rawValue: String

    /// The key and algorithm of the signature.
    public let header: Header

    /// The claims as received.
    public let body: JSON

    /// Parses the compact form: three base64url parts separated by dots, at most 1 MiB.
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
        guard body.object != nil else { throw JWTError.badTokenStructure }
        rawValue = token
    }

    /// Parses the compact form: three base64url parts separated by dots. Returns `nil` if it is invalid.
    public init?(rawValue: String) {
        try? self.init(rawValue)
    }

    /// The claims by name.
    public var payload: [String: any Sendable] { body.claimPayload }

    /// The signature in base64url; `nil` if it is empty.
    public var signature: String? {
        rawValue.split(separator: ".").dropFirst(2).first.map(String.init)
    }

    /// The issuer.
    public var issuer: String? { self[.issuer] }

    /// The audience, or the first audience if there are several.
    public var audience: String? { audiences?.first }

    var audiences: [String]? {
        if let one: String = self[.audience] { return [one] }
        return self[.audience]
    }

    /// The time at which the token was issued.
    public var issuedAt: Date? { self[.issuedAt] }

    /// The time from which the token is valid.
    public var notBefore: Date? { self[.notBefore] }

    /// The expiry time.
    public var expirationTime: Date? { self[.expirationTime] }

    /// The expiry time.
    public var expiresAt: Date? { expirationTime }

    /// The seconds until the expiry, by the clock of `Date.coordinator`; negative after it, and 0 if the expiry time is unknown.
    public var expiresIn: TimeInterval { expiresIn(at: .nowCoordinated) }

    func expiresIn(at now: Date) -> TimeInterval { expirationTime?.timeIntervalSince(now) ?? 0 }

    /// The scopes of the token.
    public var scope: [String]? {
        if let list: [String] = self[.scope] { return list }
        let text: String? = self[.scope] ?? self["scope"]
        return text?.whitespaceSeparated
    }

    /// The assurance level of the sign-in.
    public var authenticationContext: String? { self[.authContextClassReference] }

    /// Returns whether the signature is valid for the key that the token names.
    /// - Throws: ``JWTError/invalidKey`` if the key is not in the set; ``JWTError/unsupportedAlgorithm(_:)`` if the token's algorithm is
    ///   not supported.
    public func validate(using keySet: JWKS) throws -> Bool {
        try JWK.validator.validate(token: self, using: keySet)
    }
}

extension JWT: Equatable, Hashable {
    /// Whether the two tokens have the same compact form.
    public static func == (lhs: JWT, rhs: JWT) -> Bool { lhs.rawValue == rhs.rawValue }

    /// Hashes the compact form.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension JWT: Codable {
    /// Decodes the compact form from a string.
    /// - Throws: `DecodingError` if the value is not a string, and the errors of ``init(_:)``.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the compact form as a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension JWT: Redacted {
    /// Algorithm and key identifier; no claims.
    public var description: String { "JWT(alg: \(header.algorithm.rawValue), kid: \(header.keyId))" }
}
