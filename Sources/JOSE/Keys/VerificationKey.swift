internal import Crypto
internal import CryptoExtras

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A key that verifies signatures of one algorithm.
/// The initializer does all work that does not depend on the message. One key can verify on many threads at once; it uses no lock.
public struct VerificationKey: Sendable {
    enum Material: Sendable {
        case rsa(_RSA.Signing.PublicKey, modulusByteCount: Int)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case p521(P521.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
        case secret(SymmetricKey)
    }

    /// The only algorithm whose signatures the key verifies.
    public let algorithm: JWSAlgorithm
    /// The key's ID; `nil` if the key has none.
    public let keyID: String?
    private let material: Material

    /// Creates a verification key from a JSON Web Key. Only HMAC uses the private part.
    /// - Throws: ``JOSEError/Code/invalidKey`` if the key does not permit the algorithm, is an RSA key of fewer than 2048 or more than 8192
    ///   bits, is a secret shorter than the digest, or is not a point on its curve.
    public init(_ jwk: JSONWebKey, algorithm: JWSAlgorithm) throws(JOSEError) {
        guard jwk.permits(algorithm) else {
            throw JOSEError(.invalidKey, "The \(jwk.keyType.rawValue) key is not one for \(algorithm.rawValue).")
        }
        material = try Self.material(of: jwk, for: algorithm)
        self.algorithm = algorithm
        keyID = jwk.keyID
    }

    private static func material(of jwk: JSONWebKey, for algorithm: JWSAlgorithm) throws(JOSEError) -> Material {
        switch jwk.material {
        case .rsa(let numbers): return .rsa(try numbers.verificationKey(), modulusByteCount: numbers.n.count)
        case .oct(let secret): return .secret(try symmetricKey(secret, for: algorithm))
        case .okp(_, let x, _):
            do { return .ed25519(try Curve25519.Signing.PublicKey(rawRepresentation: x)) } catch { throw notOnCurve }
        case .ec(let curve, let x, let y, _):
            do {
                switch curve {
                case .p256: return .p256(try P256.Signing.PublicKey(rawRepresentation: x + y))
                case .p384: return .p384(try P384.Signing.PublicKey(rawRepresentation: x + y))
                case .p521: return .p521(try P521.Signing.PublicKey(rawRepresentation: x + y))
                case .ed25519: break
                }
            } catch { throw notOnCurve }
            throw notOnCurve
        }
    }

    private static let notOnCurve = JOSEError(.invalidKey, "The key is no point of its curve.")

    static func symmetricKey(_ secret: [UInt8], for algorithm: JWSAlgorithm) throws(JOSEError) -> SymmetricKey {
        let minimum = algorithm.digest.byteCount
        guard secret.count >= minimum else {
            throw JOSEError(.invalidKey, "A secret for \(algorithm.rawValue) has at least \(minimum) bytes (RFC 7518, section 3.2).")
        }
        return SymmetricKey(data: secret)
    }

    /// Whether a signature is valid for a message.
    /// - Parameter signature: The signature in the format of JWS. For ECDSA, both numbers have their full length (RFC 7518 §3.4); DER is
    ///   invalid.
    public func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        signature.withUnsafeBytes { signature in message.withUnsafeBytes { isValidSignature(signature, for: $0) } }
    }

    func isValidSignature(_ signature: UnsafeRawBufferPointer, for message: UnsafeRawBufferPointer) -> Bool {
        switch material {
        case .rsa(let key, let modulusByteCount):
            guard signature.count == modulusByteCount else { return false }
            let rsaSignature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            let padding: _RSA.Signing.Padding = algorithm.isPSS ? .PSS : .insecurePKCS1v1_5
            switch algorithm.digest {
            case .sha256: return key.isValidSignature(rsaSignature, for: Self.digest(SHA256.self, of: message), padding: padding)
            case .sha384: return key.isValidSignature(rsaSignature, for: Self.digest(SHA384.self, of: message), padding: padding)
            case .sha512: return key.isValidSignature(rsaSignature, for: Self.digest(SHA512.self, of: message), padding: padding)
            }
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: Self.digest(SHA256.self, of: message))
        case .p384(let key):
            guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: Self.digest(SHA384.self, of: message))
        case .p521(let key):
            guard let signature = try? P521.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: Self.digest(SHA512.self, of: message))
        case .ed25519(let key):
            return signature.count == 64 && key.isValidSignature(signature, for: message)
        case .secret(let key):
            // The comparison takes constant time.
            switch algorithm.digest {
            case .sha256: return HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: message, using: key)
            case .sha384: return HMAC<SHA384>.isValidAuthenticationCode(signature, authenticating: message, using: key)
            case .sha512: return HMAC<SHA512>.isValidAuthenticationCode(signature, authenticating: message, using: key)
            }
        }
    }

    private static func digest<Function: HashFunction>(_: Function.Type, of message: UnsafeRawBufferPointer) -> Function.Digest {
        var function = Function()
        function.update(bufferPointer: message)
        return function.finalize()
    }
}
