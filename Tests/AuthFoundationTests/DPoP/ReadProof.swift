import Crypto
import Foundation

/// A DPoP proof, parsed by the rules of RFC 9449 with swift-crypto, without any code under test.
struct ReadProof {
    let type: String
    let algorithm: String
    /// The member names of the key.
    let keyMembers: Set<String>
    /// The member names of the header.
    let headerMembers: Set<String>
    let method: String
    let target: String
    let issuedAt: Int
    let id: String
    let nonce: String?
    let accessTokenHash: String?
    let claimNames: Set<String>
    /// The thumbprint of the key (RFC 7638).
    let thumbprint: String

    /// - Throws: An error for a value that is no proof, or that the contained key did not sign.
    init(_ text: String?) throws {
        let parts = (text ?? "").split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { throw NoProof() }
        let header = try Self.object(parts[0])
        let claims = try Self.object(parts[1])
        guard let jwk = header["jwk"] as? [String: Any], let x = jwk["x"] as? String, let y = jwk["y"] as? String,
            let method = claims["htm"] as? String, let target = claims["htu"] as? String, let issuedAt = claims["iat"] as? Int,
            let id = claims["jti"] as? String, let type = header["typ"] as? String, let algorithm = header["alg"] as? String
        else { throw NoProof() }
        let key = try P256.Signing.PublicKey(rawRepresentation: Self.bytes(x) + Self.bytes(y))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: Self.bytes(parts[2]))
        guard key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)) else { throw NoProof() }
        (self.type, self.algorithm, self.method, self.target) = (type, algorithm, method, target)
        (self.issuedAt, self.id) = (issuedAt, id)
        nonce = claims["nonce"] as? String
        accessTokenHash = claims["ath"] as? String
        keyMembers = Set(jwk.keys)
        headerMembers = Set(header.keys)
        claimNames = Set(claims.keys)
        thumbprint = Self.hash(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#)
    }

    /// Returns the SHA-256 digest of a text in base64url.
    static func hash(_ text: String) -> String {
        Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func object(_ part: String) throws -> [String: Any] {
        guard let object = try JSONSerialization.jsonObject(with: bytes(part)) as? [String: Any] else { throw NoProof() }
        return object
    }

    private static func bytes(_ part: String) throws -> Data {
        let standard = part.replacing("-", with: "+").replacing("_", with: "/")
        guard let data = Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)) else {
            throw NoProof()
        }
        return data
    }
}

struct NoProof: Error {}
