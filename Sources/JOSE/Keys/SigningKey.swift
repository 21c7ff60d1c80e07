internal import Crypto
internal import CryptoExtras

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A key that signs with one algorithm.
///
/// ```swift
/// let key = try SigningKey.generate(.es256, keyID: "2024-05")
/// let token = try key.sign(["iss": "https://id.example.com", "sub": "00u1", "exp": 1_700_003_600])
/// ```
/// One key can sign on many threads at once; it uses no lock. Descriptions never show the private part.
public struct SigningKey: Sendable {
    enum Material: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521(P521.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
        case secret(SymmetricKey)
    }

    /// The only algorithm with which the key signs.
    public let algorithm: JWSAlgorithm
    /// The key's ID, which every header contains; `nil` if the key has none.
    public let keyID: String?
    /// The key with its private part, ID and algorithm.
    public let privateJWK: JSONWebKey
    private let material: Material
    /// The encoded header without additional members, computed once because most tokens use it.
    private let encodedHeader: [UInt8]

    private init(material: Material, jwk: JSONWebKey.Material, algorithm: JWSAlgorithm, keyID: String?) {
        self.material = material
        self.algorithm = algorithm
        self.keyID = keyID
        privateJWK = JSONWebKey(material: jwk, keyID: keyID, algorithm: algorithm, use: "sig")
        encodedHeader = Self.encodedHeader(algorithm: algorithm, keyID: keyID, extra: [:])
    }

    /// The public key with its ID and algorithm; `nil` for a secret.
    public var publicKey: JSONWebKey? { privateJWK.publicKey }

    /// Generates a key from the system's secure random generator.
    /// - Parameter bits: The size of an RSA key, from 2048 to 8192. Ignored for other algorithms.
    /// - Throws: ``JOSEError/Code/invalidKey`` if the size is out of range.
    public static func generate(_ algorithm: JWSAlgorithm, keyID: String? = nil, bits: Int = 2048) throws(JOSEError) -> SigningKey {
        let material: Material
        switch algorithm {
        case .es256: material = .p256(P256.Signing.PrivateKey())
        case .es384: material = .p384(P384.Signing.PrivateKey())
        case .es512: material = .p521(P521.Signing.PrivateKey())
        case .edDSA: material = .ed25519(Curve25519.Signing.PrivateKey())
        case .hs256, .hs384, .hs512:
            material = .secret(SymmetricKey(size: SymmetricKeySize(bitCount: algorithm.digest.byteCount * 8)))
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512:
            guard RSAKeyNumbers.minimumModulusSize...RSAKeyNumbers.maximumModulusSize ~= bits,
                let key = try? _RSA.Signing.PrivateKey(keySize: _RSA.Signing.KeySize(bitCount: bits))
            else { throw JOSEError(.invalidKey, "An RSA key has 2048 to 8192 bits.") }
            material = .rsa(key)
        }
        return try SigningKey(material: material, algorithm: algorithm, keyID: keyID)
    }

    /// Creates an HMAC key from a secret.
    /// - Parameters:
    ///   - bytes: The secret, at least as long as the algorithm's digest.
    ///   - algorithm: HS256, HS384 or HS512.
    /// - Throws: ``JOSEError/Code/invalidKey`` if the secret is too short or the algorithm is not HMAC.
    public static func secret(_ bytes: some Collection<UInt8>, algorithm: JWSAlgorithm, keyID: String? = nil) throws(JOSEError)
        -> SigningKey
    {
        try SigningKey(JSONWebKey(secret: bytes, keyID: keyID), algorithm: algorithm)
    }

    /// Creates a signing key from a JSON Web Key.
    /// - Throws: ``JOSEError/Code/invalidKey`` if the key does not permit the algorithm, has no private part or is too short, or if its
    ///   private part does not match its public part.
    public init(_ jwk: JSONWebKey, algorithm: JWSAlgorithm) throws(JOSEError) {
        guard jwk.permits(algorithm) else {
            throw JOSEError(.invalidKey, "The \(jwk.keyType.rawValue) key is not one for \(algorithm.rawValue).")
        }
        self.init(material: try Self.material(of: jwk, for: algorithm), jwk: jwk.material, algorithm: algorithm, keyID: jwk.keyID)
        let actual = JSONWebKey(material: try Self.jwk(of: material))
        guard jwk.publicKey?.thumbprint == actual.publicKey?.thumbprint else {
            throw JOSEError(.invalidKey, "The key's private part does not belong to its public part.")
        }
    }

    /// Parses an unencrypted private key in PEM format: PKCS #8, SEC 1 or PKCS #1.
    /// - Throws: ``JOSEError/Code/invalidKey`` if the text is not a private key for the algorithm, the key is too short, or the algorithm
    ///   is HMAC.
    public init(pem: String, algorithm: JWSAlgorithm, keyID: String? = nil) throws(JOSEError) {
        let material: Material
        do {
            switch algorithm {
            case .es256: material = .p256(try P256.Signing.PrivateKey(pemRepresentation: pem))
            case .es384: material = .p384(try P384.Signing.PrivateKey(pemRepresentation: pem))
            case .es512: material = .p521(try P521.Signing.PrivateKey(pemRepresentation: pem))
            case .edDSA: material = .ed25519(try Curve25519.Signing.PrivateKey(pemRepresentation: pem))
            case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: material = .rsa(try _RSA.Signing.PrivateKey(pemRepresentation: pem))
            case .hs256, .hs384, .hs512: throw JOSEError(.invalidKey, "A secret for HMAC has no PEM form.")
            }
        } catch {
            throw JOSEError(.invalidKey, "The text is no unencrypted private key in PEM for \(algorithm.rawValue).")
        }
        try self.init(material: material, algorithm: algorithm, keyID: keyID)
    }

    private init(material: Material, algorithm: JWSAlgorithm, keyID: String?) throws(JOSEError) {
        let jwk = try Self.jwk(of: material)
        if case .rsa(let numbers) = jwk { try numbers.checkSize() }
        self.init(material: material, jwk: jwk, algorithm: algorithm, keyID: keyID)
    }

    private static func material(of jwk: JSONWebKey, for algorithm: JWSAlgorithm) throws(JOSEError) -> Material {
        switch jwk.material {
        case .rsa(let numbers): return .rsa(try numbers.signingKey())
        case .oct(let secret): return .secret(try VerificationKey.symmetricKey(secret, for: algorithm))
        case .ec(_, _, _, let d), .okp(_, _, let d):
            guard let d else { throw JOSEError(.invalidKey, "The key has no private part to sign with.") }
            do {
                switch jwk.curve {
                case .p256: return .p256(try P256.Signing.PrivateKey(rawRepresentation: d))
                case .p384: return .p384(try P384.Signing.PrivateKey(rawRepresentation: d))
                case .p521: return .p521(try P521.Signing.PrivateKey(rawRepresentation: d))
                case .ed25519: return .ed25519(try Curve25519.Signing.PrivateKey(rawRepresentation: d))
                case nil: break
                }
            } catch { throw JOSEError(.invalidKey, "The key's private part (d) is out of range.") }
            throw JOSEError(.invalidKey, "The key names no curve.")
        }
    }

    private static func jwk(of material: Material) throws(JOSEError) -> JSONWebKey.Material {
        switch material {
        case .rsa(let key): return .rsa(try RSAKeyNumbers(key))
        case .p256(let key):
            return JSONWebKey.elliptic(.p256, point: Array(key.publicKey.rawRepresentation), d: Array(key.rawRepresentation))
        case .p384(let key):
            return JSONWebKey.elliptic(.p384, point: Array(key.publicKey.rawRepresentation), d: Array(key.rawRepresentation))
        case .p521(let key):
            return JSONWebKey.elliptic(.p521, point: Array(key.publicKey.rawRepresentation), d: Array(key.rawRepresentation))
        case .ed25519(let key): return .okp(.ed25519, x: Array(key.publicKey.rawRepresentation), d: Array(key.rawRepresentation))
        case .secret(let key): return .oct(key.withUnsafeBytes { Array($0) })
        }
    }

    /// The unencrypted private key in PEM format (PKCS #8); `nil` for a secret. Store it where only its owner can read it.
    public var privatePEM: String? {
        switch material {
        case .rsa(let key): key.pkcs8PEMRepresentation
        case .p256(let key): key.pemRepresentation
        case .p384(let key): key.pemRepresentation
        case .p521(let key): key.pemRepresentation
        case .ed25519(let key): key.pemRepresentation
        case .secret: nil
        }
    }

    /// Returns the signature of a message, in the format of JWS.
    /// - Throws: ``JOSEError/Code/invalidKey`` if the cryptographic library cannot sign with the key.
    public func signature(for message: [UInt8]) throws(JOSEError) -> [UInt8] {
        do {
            switch material {
            case .rsa(let key):
                let padding: _RSA.Signing.Padding = algorithm.isPSS ? .PSS : .insecurePKCS1v1_5
                switch algorithm.digest {
                case .sha256: return Array(try key.signature(for: SHA256.hash(data: message), padding: padding).rawRepresentation)
                case .sha384: return Array(try key.signature(for: SHA384.hash(data: message), padding: padding).rawRepresentation)
                case .sha512: return Array(try key.signature(for: SHA512.hash(data: message), padding: padding).rawRepresentation)
                }
            case .p256(let key): return Array(try key.signature(for: SHA256.hash(data: message)).rawRepresentation)
            case .p384(let key): return Array(try key.signature(for: SHA384.hash(data: message)).rawRepresentation)
            case .p521(let key): return Array(try key.signature(for: SHA512.hash(data: message)).rawRepresentation)
            case .ed25519(let key): return Array(try key.signature(for: message))
            case .secret(let key):
                switch algorithm.digest {
                case .sha256: return Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
                case .sha384: return Array(HMAC<SHA384>.authenticationCode(for: message, using: key))
                case .sha512: return Array(HMAC<SHA512>.authenticationCode(for: message, using: key))
                }
            }
        } catch {
            throw JOSEError(.invalidKey, "The cryptographic library refused to sign with the \(algorithm.rawValue) key.")
        }
    }

    /// Signs a payload and returns the compact serialization (RFC 7515 §7.1).
    /// - Parameter extra: Additional header members. The key's own `alg`, and its `kid` if it has one, take precedence.
    /// - Throws: ``JOSEError/Code/invalidKey`` if the cryptographic library cannot sign with the key.
    public func sign(payload: [UInt8], header extra: [String: JSONValue] = [:]) throws(JOSEError) -> String {
        var token = extra.isEmpty ? encodedHeader : Self.encodedHeader(algorithm: algorithm, keyID: keyID, extra: extra)
        token.reserveCapacity(token.count + Base64URL.encodedCount(of: payload.count) + 700)
        token.append(UInt8(ascii: "."))
        Base64URL.encode(payload, to: &token)
        let signature = try signature(for: token)
        token.append(UInt8(ascii: "."))
        Base64URL.encode(signature, to: &token)
        return String(decoding: token, as: UTF8.self)
    }

    private static func encodedHeader(algorithm: JWSAlgorithm, keyID: String?, extra: [String: JSONValue]) -> [UInt8] {
        var header = JSONValue.object(extra)
        header["alg"] = .string(algorithm.rawValue)
        if let keyID { header["kid"] = .string(keyID) }
        var encoded: [UInt8] = []
        Base64URL.encode(header.serialized(), to: &encoded)
        return encoded
    }

    /// Signs claims and returns a JSON Web Token in compact form (RFC 7519).
    /// - Parameters:
    ///   - claims: The claims, as a JSON object.
    ///   - extra: Additional header members, such as `typ`. The key's own `alg`, and its `kid` if it has one, take precedence.
    /// - Throws: ``JOSEError/Code/malformed`` if the claims are not an object; ``JOSEError/Code/invalidKey`` if the cryptographic library
    ///   cannot sign with the key.
    public func sign(_ claims: JSONValue, header extra: [String: JSONValue] = [:]) throws(JOSEError) -> String {
        guard claims.objectValue != nil else { throw JOSEError(.malformed, "The claims of a token are a JSON object.") }
        return try sign(payload: claims.serialized(), header: extra)
    }

    /// Returns the key that verifies this key's signatures, with the same algorithm and ID.
    /// - Throws: ``JOSEError/Code/invalidKey`` if the key is invalid.
    public func verificationKey() throws(JOSEError) -> VerificationKey {
        try VerificationKey(privateJWK, algorithm: algorithm)
    }
}

extension SigningKey: Redacted {
    /// The key's algorithm and ID; never its private part.
    public var description: String { "SigningKey(\(algorithm.rawValue), kid: \(keyID ?? "none"))" }
}
