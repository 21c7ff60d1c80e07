internal import Foundation
internal import JOSE

/// The defect of a forged token; everything else about it is valid.
public enum Forgery: String, Sendable, CaseIterable {
    /// The signature does not match the content.
    case badSignature = "bad-signature"
    /// Another key signed the token, with the correct key's ID.
    case otherKey = "other-key"
    /// The header says `alg: none`, and there is no signature.
    case algorithmNone = "alg-none"
    /// The audience is wrong.
    case otherAudience = "other-audience"
    /// The issuer is wrong.
    case otherIssuer = "other-issuer"
    /// The nonce is not the client's.
    case wrongNonce = "wrong-nonce"
    /// The token expired an hour ago.
    case expired
    /// The token is issued an hour in the future.
    case issuedInFuture = "issued-in-future"
    /// The key ID is not published.
    case unknownKeyID = "unknown-kid"
}

/// The error for a token that cannot be forged.
public struct ForgeryError: Error, Sendable, CustomStringConvertible {
    /// The problem and its solution.
    public let description: String
}

extension Forgery {
    /// Returns a forged version of a token that the sandbox's server signed. Throws ``ForgeryError`` if none of these keys signed the
    /// token.
    func forge(_ token: String, keys: SandboxKeys, now: Date) throws -> String {
        let parts = token.split(separator: ".").map(String.init)
        guard parts.count == 3 else { throw ForgeryError(description: "Only a signed token can be forged.") }
        let header = try JSONValue(parsing: Base64URL.decode(parts[0]))
        var claims = try JSONValue(parsing: Base64URL.decode(parts[1]))
        guard let id = header["kid"]?.stringValue, let key = keys.key(id) else {
            throw ForgeryError(description: "The token's key was made by another run of the sandbox. Start it with an empty folder.")
        }
        // The type stays unchanged; otherwise a verifier would reject the token for its type.
        let type = header["typ"].map { ["typ": $0] } ?? [:]
        let seconds = now.numericDate
        switch self {
        case .badSignature:
            var signature = try Base64URL.decode(parts[2])
            signature[signature.count / 2] ^= 0x01
            return "\(parts[0]).\(parts[1]).\(Base64URL.encode(signature))"
        case .algorithmNone:
            return "\(Base64URL.encode((["alg": "none", "typ": "JWT"] as JSONValue).serialized())).\(parts[1])."
        case .otherKey: return try Self.foreignKey(algorithm: key.algorithm, id: id).sign(claims, header: type)
        case .unknownKeyID: return try Self.foreignKey(algorithm: key.algorithm, id: "unpublished").sign(claims, header: type)
        case .otherAudience: claims["aud"] = "api://other"
        case .otherIssuer: claims["iss"] = "https://other.example.com/oauth2/default"
        case .wrongNonce: claims["nonce"] = "never-sent"
        case .expired:
            claims["iat"] = .integer(seconds - 7200)
            claims["exp"] = .integer(seconds - 3600)
        case .issuedInFuture:
            claims["iat"] = .integer(seconds + 3600)
            claims["exp"] = .integer(seconds + 7200)
        }
        return try key.sign(claims, header: type)
    }

    private static func foreignKey(algorithm: JWSAlgorithm, id: String) throws -> SigningKey {
        try SigningKey.generate(algorithm, keyID: id)
    }
}
