internal import Crypto
internal import JOSE

/// A signature algorithm of COSE (RFC 9053, RFC 8812, RFC 9864), by its number in the IANA registry.
package enum COSEAlgorithm: Int64, Sendable, Hashable, Codable, CaseIterable {
    /// ECDSA with SHA-256; in WebAuthn always on P-256.
    case es256 = -7
    /// EdDSA; in WebAuthn always on Ed25519.
    case edDSA = -8
    /// ECDSA with SHA-256 on P-256, the fully specified form of ``es256``.
    case esp256 = -9
    /// EdDSA on Ed25519, the fully specified form of ``edDSA``.
    case ed25519 = -19
    /// ECDSA with SHA-384; in WebAuthn always on P-384.
    case es384 = -35
    /// ECDSA with SHA-384 on P-384, the fully specified form of ``es384``.
    case esp384 = -51
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = -257

    /// The algorithms to offer, most preferred first. They have the older numbers, which all clients understand.
    package static let recommended: [COSEAlgorithm] = [.es256, .edDSA, .rs256]

    /// The same algorithm under its older number. Two numbers of one algorithm denote the same keys and signatures.
    package var polymorphic: COSEAlgorithm {
        switch self {
        case .esp256: .es256
        case .ed25519: .edDSA
        case .esp384: .es384
        case .es256, .edDSA, .es384, .rs256: self
        }
    }

    var jwsAlgorithm: JWSAlgorithm {
        switch polymorphic {
        case .es384, .esp384: .es384
        case .edDSA, .ed25519: .edDSA
        case .rs256: .rs256
        case .es256, .esp256: .es256
        }
    }
}

/// The reason why a COSE key is rejected.
package enum COSEKeyError: Error, Sendable, Hashable {
    /// The key is not CBOR, or bytes follow it.
    case notCBOR(CBORError)
    /// The key is not a map.
    case notMap
    /// The algorithm is absent or not supported.
    case algorithm
    /// The key type or the curve does not belong to the algorithm.
    case type
    /// A parameter is absent, has the wrong type or length, or is not allowed.
    case parameter
    /// The point is not on its curve. Points of Ed25519 are checked with each signature instead.
    case point
    /// The RSA modulus has fewer than 2048 or more than 8192 bits.
    case modulus
    /// The RSA exponent is even or 1, or has more than 32 bits.
    case exponent
}

/// A credential public key: a COSE key (RFC 9052 §7) of one of the algorithms of ``COSEAlgorithm``.
/// Only the parameters that WebAuthn Level 3 §6.5.1.1 requires are allowed, and points are uncompressed.
package struct COSEPublicKey: Sendable {
    /// The algorithm.
    package let algorithm: COSEAlgorithm
    /// The key's bytes, unchanged.
    package let encoded: [UInt8]
    let jwk: JSONWebKey
    private let key: VerificationKey

    /// Decodes a key, which must be the whole input.
    package init(_ bytes: some Collection<UInt8>) throws(COSEKeyError) {
        let encoded = Array(bytes)
        let value: CBORValue
        do throws(CBORError) { value = try CBORValue(decoding: encoded) } catch { throw .notCBOR(error) }
        guard let members = value.mapValue else { throw .notMap }
        try self.init(COSEMembers(members), encoded: encoded)
    }

    private init(_ members: COSEMembers, encoded: [UInt8]) throws(COSEKeyError) {
        guard let number = members[3]?.integerValue, let algorithm = COSEAlgorithm(rawValue: number) else { throw .algorithm }
        let jwk: JSONValue
        // RFC 9053 §7: key type 1 is OKP, 2 is EC2, 3 is RSA (RFC 8230 §4). Curve 1 is P-256, 2 is P-384, 6 is Ed25519.
        switch algorithm.polymorphic {
        case .es256, .esp256: jwk = try members.point(curve: 1, name: "P-256", size: 32)
        case .es384, .esp384: jwk = try members.point(curve: 2, name: "P-384", size: 48)
        case .edDSA, .ed25519: jwk = try members.edwardsPoint()
        case .rs256: jwk = try members.rsa()
        }
        do {
            self.jwk = try JSONWebKey(jwk)
            key = try VerificationKey(self.jwk, algorithm: algorithm.jwsAlgorithm)
        } catch {
            // The numbers have the right lengths, so that only their values can be wrong.
            throw algorithm == .rs256 ? .modulus : .point
        }
        self.algorithm = algorithm
        self.encoded = encoded
    }

    /// Whether a signature is valid for a message.
    /// - Parameter signature: The signature in the format of WebAuthn Level 3 §6.5.5: DER for ECDSA, otherwise the plain bytes.
    package func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        key.isValidWebAuthnSignature(signature, for: message)
    }
}

extension VerificationKey {
    /// Whether a signature in the format of WebAuthn Level 3 §6.5.5 is valid. That is DER for ECDSA; JOSE expects both numbers with their
    /// full length.
    func isValidWebAuthnSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        let plain: [UInt8]
        switch algorithm {
        case .es256:
            guard let parsed = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
            plain = Array(parsed.rawRepresentation)
        case .es384:
            guard let parsed = try? P384.Signing.ECDSASignature(derRepresentation: signature) else { return false }
            plain = Array(parsed.rawRepresentation)
        default: plain = signature
        }
        return isValidSignature(plain, for: message)
    }
}

/// The parameters of a COSE key, read as the members of a JSON Web Key.
private struct COSEMembers: Sendable {
    private let members: [CBORKey: CBORValue]

    init(_ members: [CBORKey: CBORValue]) { self.members = members }

    subscript(label: Int64) -> CBORValue? { members[.integer(label)] }

    /// Checks the key type, the curve, and that there are no other parameters than the named ones.
    private func require(type: Int64, curve: Int64?, labels: Set<Int64>) throws(COSEKeyError) {
        guard self[1] == .integer(type), curve == nil || self[-1] == curve.map(CBORValue.integer) else { throw .type }
        // A private part (-4, or -3 of RSA) and optional parameters are not allowed.
        guard Set(members.keys) == Set(labels.map(CBORKey.integer)) else { throw .parameter }
    }

    private func bytes(_ label: Int64, count: Int? = nil) throws(COSEKeyError) -> [UInt8] {
        guard let bytes = self[label]?.bytesValue, count == nil || bytes.count == count else { throw .parameter }
        return bytes
    }

    private func text(_ bytes: [UInt8]) -> JSONValue { .string(Base64URL.encode(bytes)) }

    func point(curve: Int64, name: String, size: Int) throws(COSEKeyError) -> JSONValue {
        try require(type: 2, curve: curve, labels: [1, 3, -1, -2, -3])
        // A compressed point has a Boolean y.
        let (x, y) = (try bytes(-2, count: size), try bytes(-3, count: size))
        return ["kty": "EC", "crv": .string(name), "x": text(x), "y": text(y)]
    }

    func edwardsPoint() throws(COSEKeyError) -> JSONValue {
        try require(type: 1, curve: 6, labels: [1, 3, -1, -2])
        return ["kty": "OKP", "crv": "Ed25519", "x": text(try bytes(-2, count: 32))]
    }

    func rsa() throws(COSEKeyError) -> JSONValue {
        try require(type: 3, curve: nil, labels: [1, 3, -1, -2])
        let (modulus, exponent) = (try bytes(-1), try bytes(-2))
        // RFC 8230 §4: the numbers have no leading zeros.
        guard modulus.first ?? 0 != 0, exponent.first ?? 0 != 0 else { throw .parameter }
        guard exponent.count <= 4, exponent != [1], exponent.last.map({ $0 % 2 == 1 }) == true else { throw .exponent }
        return ["kty": "RSA", "n": text(modulus), "e": text(exponent)]
    }
}
