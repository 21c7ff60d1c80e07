internal import Crypto

/// A public, private or secret JSON Web Key (RFC 7517): RSA, EC on P-256, P-384 or P-521, Ed25519, or an HMAC secret.
/// Only the form is checked here, such as the lengths of numbers. ``SigningKey`` and ``VerificationKey`` check that a point is on its
/// curve, and ``SigningKey`` checks that the private part matches the public part. Descriptions show only public data;
/// ``json(includingPrivateMembers:)`` alone exports private members.
public struct JSONWebKey: Sendable, Hashable {
    /// The type of a key (`kty`).
    public enum KeyType: String, Sendable, Hashable, CaseIterable {
        /// RSA.
        case rsa = "RSA"
        /// A NIST elliptic curve.
        case ec = "EC"
        /// An octet key pair: Ed25519.
        case okp = "OKP"
        /// An HMAC secret.
        case oct
    }

    /// The curve of a key (`crv`).
    public enum Curve: String, Sendable, Hashable, CaseIterable {
        /// NIST P-256.
        case p256 = "P-256"
        /// NIST P-384.
        case p384 = "P-384"
        /// NIST P-521.
        case p521 = "P-521"
        /// Ed25519 (RFC 8037).
        case ed25519 = "Ed25519"

        /// The length of a coordinate and of the private part, in bytes.
        var byteCount: Int {
            switch self {
            case .p256, .ed25519: 32
            case .p384: 48
            case .p521: 66
            }
        }
    }

    enum Material: Sendable, Hashable {
        case rsa(RSAKeyNumbers)
        case ec(Curve, x: [UInt8], y: [UInt8], d: [UInt8]?)
        case okp(Curve, x: [UInt8], d: [UInt8]?)
        case oct([UInt8])
    }

    let material: Material
    /// The key's id (`kid`).
    public var keyID: String?
    /// The intended use of the key (`use`), if stated: `sig` or `enc`.
    public var use: String?
    /// The name of the intended algorithm (`alg`), if stated. It may be unknown to ``JWSAlgorithm``.
    public var algorithmName: String?
    /// The permitted operations (`key_ops`), if stated.
    public var keyOperations: [String]?

    init(material: Material, keyID: String? = nil, algorithm: JWSAlgorithm? = nil, use: String? = nil) {
        self.material = material
        self.keyID = keyID
        self.use = use
        algorithmName = algorithm?.rawValue
    }

    /// Creates an HMAC key from a secret, which must not be empty.
    public init(secret: some Collection<UInt8>, keyID: String? = nil, algorithm: JWSAlgorithm? = nil) {
        self.init(material: .oct(Array(secret)), keyID: keyID, algorithm: algorithm)
    }

    /// The intended algorithm (`alg`), if stated and known.
    public var algorithm: JWSAlgorithm? {
        get { algorithmName.flatMap(JWSAlgorithm.init(rawValue:)) }
        set { algorithmName = newValue?.rawValue }
    }

    /// The key's type (`kty`).
    public var keyType: KeyType {
        switch material {
        case .rsa: .rsa
        case .ec: .ec
        case .okp: .okp
        case .oct: .oct
        }
    }

    /// The key's curve (`crv`), for EC and OKP keys.
    public var curve: Curve? {
        switch material {
        case .ec(let curve, _, _, _), .okp(let curve, _, _): curve
        case .rsa, .oct: nil
        }
    }

    /// The modulus length of an RSA key, in bits.
    public var modulusSize: Int? { if case .rsa(let numbers) = material { numbers.modulusSize } else { nil } }

    /// Whether the key has a private part. Always true for a secret.
    public var isPrivate: Bool {
        switch material {
        case .rsa(let numbers): numbers.privateNumbers != nil
        case .ec(_, _, _, let d), .okp(_, _, let d): d != nil
        case .oct: true
        }
    }

    /// The key without its private part; `nil` for a secret.
    public var publicKey: JSONWebKey? {
        let material: Material
        switch self.material {
        case .rsa(let numbers): material = .rsa(RSAKeyNumbers(n: numbers.n, e: numbers.e, privateNumbers: nil))
        case .ec(let curve, let x, let y, _): material = .ec(curve, x: x, y: y, d: nil)
        case .okp(let curve, let x, _): material = .okp(curve, x: x, d: nil)
        case .oct: return nil
        }
        var key = JSONWebKey(material: material, keyID: keyID, use: use)
        key.algorithmName = algorithmName
        if keyOperations != nil { key.keyOperations = ["verify"] }
        return key
    }

    /// The key's thumbprint (RFC 7638): the SHA-256 hash of its required members, in base64url.
    /// A public key and its private key have the same thumbprint. The thumbprint of a secret is a hash of it: keep it private if the secret
    /// could be guessed.
    public var thumbprint: String {
        let required: JSONValue
        switch material {
        case .rsa(let numbers): required = ["kty": "RSA", "n": Self.text(numbers.n), "e": Self.text(numbers.e)]
        case .ec(let curve, let x, let y, _):
            required = ["kty": "EC", "crv": .string(curve.rawValue), "x": Self.text(x), "y": Self.text(y)]
        case .okp(let curve, let x, _): required = ["kty": "OKP", "crv": .string(curve.rawValue), "x": Self.text(x)]
        case .oct(let secret): required = ["kty": "oct", "k": Self.text(secret)]
        }
        return Base64URL.encode(Array(SHA256.hash(data: required.serialized())))
    }

    static func text(_ bytes: [UInt8]) -> JSONValue { .string(Base64URL.encode(bytes)) }

    /// Whether the key may be used with an algorithm: its type and curve match, and its `alg`, `use` and `key_ops` permit it.
    public func permits(_ algorithm: JWSAlgorithm) -> Bool {
        guard keyType == algorithm.keyType, curve == algorithm.curve else { return false }
        if let algorithmName, algorithmName != algorithm.rawValue { return false }
        if let use, use != "sig" { return false }
        if let keyOperations, !keyOperations.contains(where: { $0 == "sign" || $0 == "verify" }) { return false }
        return true
    }
}

extension JSONWebKey: Redacted {
    /// The key's type, curve and ID, and whether it is private; never its private part.
    public var description: String {
        "JSONWebKey(\(keyType.rawValue)\(curve.map { " \($0.rawValue)" } ?? ""), kid: \(keyID ?? "none"), \(isPrivate ? "private" : "public"))"
    }
}
