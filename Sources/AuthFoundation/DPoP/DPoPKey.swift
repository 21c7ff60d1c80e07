public import JOSE

/// A private key on P-256 by which a client proves that tokens are its own (RFC 9449).
///
/// The private part shows in no description. Safe from any thread.
public struct DPoPKey: Sendable, Redacted {
    /// The key's name by RFC 7638: the SHA-256 of its public form, in base64url. It is no secret.
    public let thumbprint: String

    /// The members of the public form.
    let publicMembers: JSONValue

    private let sign: @Sendable ([UInt8]) throws -> [UInt8]

    /// Takes a key wherever it is.
    ///
    /// - Parameters:
    ///   - x: The public point's first coordinate, 32 bytes.
    ///   - y: The public point's second coordinate, 32 bytes.
    ///   - sign: Signs a message with ECDSA on P-256 and SHA-256, and gives the signature's r and s, 64 bytes.
    /// - Throws: ``DPoPError`` with ``DPoPError/Code/keyUnusable`` if that is no point on P-256.
    public init(x: [UInt8], y: [UInt8], sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) throws {
        publicMembers = [
            "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
        ]
        do {
            let key = try JSONWebKey(parsing: publicMembers.serialized())
            // The point itself is checked there.
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

    /// Signs a proof.
    ///
    /// - Parameter claims: What it says.
    /// - Returns: The proof in the compact form of RFC 7515.
    /// - Throws: What the key's place throws.
    func proof(_ claims: JSONValue) throws -> String {
        let header: JSONValue = ["typ": "dpop+jwt", "alg": "ES256", "jwk": publicMembers]
        let signed = "\(Base64URL.encode(header.serialized())).\(Base64URL.encode(claims.serialized()))"
        return "\(signed).\(Base64URL.encode(try sign(Array(signed.utf8))))"
    }

    /// Shows the thumbprint only.
    public var description: String { "DPoPKey(\(thumbprint))" }
}
