public import JOSE

/// A P-256 private key that proves possession of tokens (RFC 9449). Descriptions contain no private part. Safe from any thread.
public struct DPoPKey: Sendable, Redacted {
    /// The RFC 7638 thumbprint: the SHA-256 hash of the public key in base64url. It is not secret.
    public let thumbprint: String

    /// The members of the public key.
    let publicMembers: JSONValue

    let sign: @Sendable ([UInt8]) throws -> [UInt8]

    /// Creates a key whose private part can be stored anywhere.
    /// - Parameters:
    ///   - x: The x coordinate of the public point, 32 bytes.
    ///   - y: The y coordinate of the public point, 32 bytes.
    ///   - sign: Signs a message with ECDSA on P-256 and SHA-256. Returns the signature as r and s, 64 bytes.
    /// - Throws: ``DPoPError`` with ``DPoPError/Code/keyUnusable`` if the point is not on P-256.
    public init(x: [UInt8], y: [UInt8], sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) throws {
        publicMembers = [
            "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
        ]
        do {
            let key = try JSONWebKey(parsing: publicMembers.serialized())
            // This checks that the point is on the curve.
            _ = try VerificationKey(key, algorithm: .es256)
            thumbprint = key.thumbprint
        } catch {
            throw DPoPError(.keyUnusable, "The stored DPoP key is no key on P-256. Delete it and sign in again.", underlying: error)
        }
        self.sign = sign
    }

    init(_ key: SigningKey) throws {
        let members = key.privateJWK.json()
        guard let x = members["x"]?.stringValue, let y = members["y"]?.stringValue else {
            throw DPoPError(.keyUnusable, "The stored DPoP key is no key on P-256. Delete it and sign in again.")
        }
        try self.init(x: Base64URL.decode(x), y: Base64URL.decode(y)) { try key.signature(for: $0) }
    }

    /// The thumbprint only.
    public var description: String { "DPoPKey(\(thumbprint))" }
}
