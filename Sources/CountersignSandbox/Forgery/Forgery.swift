internal import Foundation
internal import JOSE

/// What is wrong with a forged token; everything else about it is right.
public enum Forgery: String, Sendable, CaseIterable {
    /// The signature does not fit what is signed.
    case badSignature = "bad-signature"
    /// Another key signed, under the right key's id.
    case otherKey = "other-key"
    /// The header says `alg: none`, and there is no signature.
    case algorithmNone = "alg-none"
    /// It is for another audience.
    case otherAudience = "other-audience"
    /// It is from another issuer.
    case otherIssuer = "other-issuer"
    /// It answers to a nonce that nobody sent.
    case wrongNonce = "wrong-nonce"
    /// It ended an hour ago.
    case expired
    /// It was issued an hour from now.
    case issuedInFuture = "issued-in-future"
    /// Its key id is not published.
    case unknownKeyID = "unknown-kid"
}

/// Why a token could not be forged.
public struct ForgeryError: Error, Sendable, CustomStringConvertible {
    /// What happened and what to do next.
    public let description: String
}

extension Forgery {
    /// Makes a forged token of a good one.
    ///
    /// - Parameters:
    ///   - token: A token that the sandbox's server signed.
    ///   - keys: The keys of the sandbox.
    ///   - now: The sandbox's time.
    /// - Returns: The forged token.
    /// - Throws: ``ForgeryError`` if it is no token of these keys.
    func forge(_ token: String, keys: SandboxKeys, now: Date) throws -> String {
        let parts = token.split(separator: ".").map(String.init)
        guard parts.count == 3 else { throw ForgeryError(description: "Only a signed token can be forged.") }
        let header = try JSONValue(parsing: Base64URL.decode(parts[0]))
        var claims = try JSONValue(parsing: Base64URL.decode(parts[1]))
        guard let id = header["kid"]?.stringValue, let key = keys.key(id) else {
            throw ForgeryError(description: "The token's key was made by another run of the sandbox. Start it with an empty folder.")
        }
        // The type is unchanged; otherwise a verifier would refuse the token for its type.
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
        case .wrongNonce: claims["nonce"] = "nobody-sent-this"
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
