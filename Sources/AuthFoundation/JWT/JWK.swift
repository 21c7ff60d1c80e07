import Foundation
public import JOSE

/// A key that signatures are checked with (RFC 7517).
public struct JWK: Hashable, Identifiable, Sendable {
    /// The family of a key.
    public enum KeyType: String, Codable, Sendable {
        /// Elliptic curve.
        case ellipticCurve = "EC"
        /// RSA.
        case rsa = "RSA"
        /// A secret that both sides know.
        case octetSequence = "oct"
    }

    /// What a key is for.
    public enum Usage: String, Codable, Sendable {
        /// Signatures.
        case signature = "sig"
        /// Encryption.
        case encryption = "enc"
    }

    /// The family.
    public let type: KeyType

    /// The name, `kid`.
    public let id: String?

    /// What it is for; signatures if it does not say.
    public let usage: Usage

    /// The algorithm that it is for.
    public let algorithm: Algorithm?

    /// The modulus of an RSA key, as base64url.
    public let rsaModulus: String?

    /// The exponent of an RSA key, as base64url.
    public let rsaExponent: String?

    /// All members as they were received.
    let json: JSON

    private static let currentValidator = Locked<any JWKValidator>(SignatureValidator())

    /// What ``JWT/validate(using:)`` checks signatures with.
    public static var validator: any JWKValidator {
        get { currentValidator.withLock { $0 } }
        set { currentValidator.withLock { $0 = newValue } }
    }

    init(json: JSON) throws {
        guard let kind = json["kty"]?.stringValue else { throw ClaimError.missingRequiredValue(key: "kty") }
        guard let type = KeyType(rawValue: kind) else { throw JWTError.invalidKey }
        self.type = type
        if let use = json["use"]?.stringValue {
            guard let usage = Usage(rawValue: use) else { throw JWTError.invalidKey }
            self.usage = usage
        } else {
            usage = .signature
        }
        id = json["kid"]?.stringValue
        algorithm = json["alg"]?.stringValue.map(Algorithm.init(rawValue:))
        rsaModulus = type == .rsa ? json["n"]?.stringValue : nil
        rsaExponent = type == .rsa ? json["e"]?.stringValue : nil
        self.json = json
    }

    /// Checks a token's signature with this key.
    ///
    /// - Parameter token: The token.
    /// - Returns: Whether the signature is good.
    /// - Throws: ``JWTError/unsupportedAlgorithm(_:)`` if this key can't be used with the token's algorithm.
    public func verify(token: JWT) throws -> Bool {
        try SignatureValidator().verify(token, with: json)
    }
}

extension JWK: Codable {
    /// Reads a key.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` without `kty`, ``JWTError/invalidKey`` for a family or a use that is not known.
    public init(from decoder: any Decoder) throws {
        try self.init(json: JSON(from: decoder))
    }

    /// Writes the key with all members as they were received.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: `EncodingError` if the encoder can't write JSON.
    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}

extension JWK: Redacted {
    /// Family and name; a key may be a secret.
    public var description: String { "JWK(kty: \(type.rawValue), kid: \(id ?? "nil"))" }
}

/// A check of signatures.
public protocol JWKValidator {
    /// Checks a token's signature with the key that it names.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - keySet: The issuer's keys.
    /// - Returns: Whether the signature is good.
    /// - Throws: ``JWTError``
    func validate(token: JWT, using keySet: JWKS) throws -> Bool
}
