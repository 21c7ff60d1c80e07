internal import Crypto
internal import CryptoExtras

extension JSONWebKey {
    /// Parses a public key in PEM format (`BEGIN PUBLIC KEY` or `BEGIN RSA PUBLIC KEY`).
    /// - Throws: ``JOSEError/Code/invalidKey`` if the text is not a public key of a supported type, or is an RSA key of fewer than 2048
    ///   bits.
    public init(publicKeyPEM pem: String, keyID: String? = nil) throws(JOSEError) {
        guard let material = Self.material(publicKeyPEM: pem) else {
            throw JOSEError(.invalidKey, "The text is no public key in PEM: RSA from 2048 bits, P-256, P-384, P-521 or Ed25519.")
        }
        self.init(material: material, keyID: keyID)
    }

    /// Tries each key type in turn, so a failure to parse one type is not an error.
    private static func material(publicKeyPEM pem: String) -> Material? {
        if let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem), let numbers = try? RSAKeyNumbers(key) { return .rsa(numbers) }
        if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) { return elliptic(.p256, point: Array(key.rawRepresentation)) }
        if let key = try? P384.Signing.PublicKey(pemRepresentation: pem) { return elliptic(.p384, point: Array(key.rawRepresentation)) }
        if let key = try? P521.Signing.PublicKey(pemRepresentation: pem) { return elliptic(.p521, point: Array(key.rawRepresentation)) }
        if let key = try? Curve25519.Signing.PublicKey(pemRepresentation: pem) {
            return .okp(.ed25519, x: Array(key.rawRepresentation), d: nil)
        }
        return nil
    }

    static func elliptic(_ curve: Curve, point: [UInt8], d: [UInt8]? = nil) -> Material {
        let middle = point.count / 2
        return .ec(curve, x: Array(point[..<middle]), y: Array(point[middle...]), d: d)
    }

    /// The public key in PEM format (`BEGIN PUBLIC KEY`); `nil` for a secret and for an invalid key.
    public var pemRepresentation: String? {
        switch material {
        case .rsa(let numbers): try? numbers.verificationKey().pemRepresentation
        case .ec(.p256, let x, let y, _): try? P256.Signing.PublicKey(rawRepresentation: x + y).pemRepresentation
        case .ec(.p384, let x, let y, _): try? P384.Signing.PublicKey(rawRepresentation: x + y).pemRepresentation
        case .ec(.p521, let x, let y, _): try? P521.Signing.PublicKey(rawRepresentation: x + y).pemRepresentation
        case .okp(_, let x, _): try? Curve25519.Signing.PublicKey(rawRepresentation: x).pemRepresentation
        case .ec, .oct: nil
        }
    }
}
