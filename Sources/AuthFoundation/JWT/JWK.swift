import Foundation
public import JOSE

/// A key that verifies signatures (RFC 7517).
public struct JWK: Hashable, Identifiable, Sendable {
    /// The type of a key.
    public enum KeyType: String, Codable, Sendable {
        /// Elliptic curve.
        case ellipticCurve = "EC"
        /// RSA.
        case rsa = "RSA"
        /// A shared secret.
        case octetSequence = "oct"
    }

    /// The intended use of a key.
    public enum Usage: String, Codable, Sendable {
        /// Signatures.
        case signature = "sig"
        /// Encryption.
        case encryption = "enc"
    }

    /// The type of the key.
    public let type: KeyType

    /// The key identifier, `kid`; `nil` if there is none.
    public let id: String?

    /// The intended use. The default is signatures.
    public let usage: Usage

    /// The algorithm of the key. A key that does not name one has `RS256` if it is an RSA key, and otherwise `nil`.
    public let algorithm: Algorithm?

    /// The modulus of an RSA key in base64url; `nil` for other keys.
    public let rsaModulus: String?

    /// The exponent of an RSA key in base64url; `nil` for other keys.
    public let rsaExponent: String?

    let json: JSON

    private static let currentValidator = Locked<any JWKValidator>(SignatureValidator())

    /// The validator for ``JWT/validate(using:)``.
    public static var validator: any JWKValidator {
        get { currentValidator.withLock { $0 } }
        set { currentValidator.withLock { $0 = newValue } }
    }

    init(json: JSON) throws {
        guard let kind = json["kty"]?.string else { throw ClaimError.missingRequiredValue(key: "kty") }
        guard let type = KeyType(rawValue: kind) else { throw JWTError.invalidKey }
        self.type = type
        if let use = json["use"]?.string {
            guard let usage = Usage(rawValue: use) else { throw JWTError.invalidKey }
            self.usage = usage
        } else {
            usage = .signature
        }
        id = json["kid"]?.string
        // Only a statement: the signature is verified with the algorithm of the token.
        algorithm = json["alg"]?.string.map(Algorithm.init(name:)) ?? (type == .rsa ? .rs256 : nil)
        rsaModulus = type == .rsa ? json["n"]?.string : nil
        rsaExponent = type == .rsa ? json["e"]?.string : nil
        self.json = json
    }

    /// Returns whether the token's signature is valid for this key.
    /// - Throws: ``JWTError/unsupportedAlgorithm(_:)`` if the token's algorithm is not supported; ``JWTError/invalidKey`` if the key does
    ///   not match the algorithm.
    public func verify(token: JWT) throws -> Bool {
        try SignatureValidator().verify(token, with: json)
    }
}

extension JWK: Codable {
    /// Decodes a key.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if `kty` is missing; ``JWTError/invalidKey`` for an unknown type or use.
    public init(from decoder: any Decoder) throws {
        try self.init(json: JSON(from: decoder))
    }

    /// Encodes the key with all members as received.
    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}

extension JWK: Redacted {
    /// Type and identifier only, because a key can be secret.
    public var description: String { "JWK(kty: \(type.rawValue), kid: \(id ?? "nil"))" }
}

/// A validator of token signatures.
public protocol JWKValidator {
    /// Returns whether the token's signature is valid for the key that the token names.
    /// - Throws: ``JWTError``
    func validate(token: JWT, using keySet: JWKS) throws -> Bool
}

/// A validator for the signatures of all asymmetric algorithms: RS, PS, ES and EdDSA. Shared secrets are not supported.
struct SignatureValidator: JWKValidator, Sendable {
    func validate(token: JWT, using keySet: JWKS) throws -> Bool {
        let candidates = keySet.all.filter { key in
            guard key["use"]?.string ?? "sig" == "sig" else { return false }
            // Without a key identifier, try every key (OpenID Connect Core §10.1).
            return token.header.keyId.isEmpty || key["kid"]?.string == token.header.keyId
        }
        guard !candidates.isEmpty else { throw JWTError.invalidKey }
        var failure: (any Error)?
        for key in candidates {
            do {
                if try verify(token, with: key) { return true }
            } catch {
                failure = error
            }
        }
        if let failure, candidates.count == 1 { throw failure }
        return false
    }

    func verify(_ token: JWT, with key: JSON) throws -> Bool {
        guard let algorithm = JWSAlgorithm(rawValue: token.header.algorithm.rawValue), JWSAlgorithm.asymmetric.contains(algorithm) else {
            throw JWTError.unsupportedAlgorithm(token.header.algorithm)
        }
        guard let end = token.rawValue.lastIndex(of: "."), let text = key.text,
            let signature = Data(base64URLEncoded: token.rawValue[token.rawValue.index(after: end)...])
        else { throw JWTError.badTokenStructure }
        let verificationKey: VerificationKey
        do {
            verificationKey = try VerificationKey(JSONWebKey(parsing: [UInt8](text)), algorithm: algorithm)
        } catch {
            throw JWTError.invalidKey
        }
        return verificationKey.isValidSignature([UInt8](signature), for: Array(token.rawValue[..<end].utf8))
    }
}
