public import Foundation
public import JOSE

/// A client that creates DPoP proofs (RFC 9449 §4.2), which are valid unless a test changes them.
public struct ProofMaker: Sendable {
    /// The key that signs the proofs and to which tokens are bound.
    public let key: SigningKey

    /// Generates a client's key for the algorithm.
    public init(_ algorithm: JWSAlgorithm = .es256) throws {
        key = try SigningKey.generate(algorithm)
    }

    /// The thumbprint of the key.
    public var thumbprint: String { key.publicKey?.thumbprint ?? "" }

    /// The public key, as the header of a proof contains it.
    public var jwk: JSONValue {
        var jwk = key.publicKey?.json() ?? .null
        // Clients send only the required members.
        for name in ["alg", "use"] { jwk[name] = nil }
        return jwk
    }

    /// Returns a signed proof, the value of the `DPoP` header.
    ///
    /// - Parameters:
    ///   - method: The claim `htm`.
    ///   - uri: The claim `htu`.
    ///   - time: The claim `iat`.
    ///   - nonce: The server's nonce.
    ///   - accessToken: The token whose hash is the claim `ath`.
    ///   - claims: Claims to change; nil removes a claim.
    ///   - header: Header members to change; nil removes a member.
    public func proof(
        _ method: String, _ uri: String, at time: Date, nonce: String? = nil, accessToken: String? = nil,
        changing claims: [String: JSONValue?] = [:], header: [String: JSONValue?] = [:]
    ) throws -> String {
        var payload: JSONValue = [
            "jti": .string(UUID().uuidString), "htm": .string(method), "htu": .string(uri),
            "iat": .integer(Int64(time.timeIntervalSince1970.rounded(.down))),
        ]
        payload["nonce"] = nonce.map(JSONValue.string)
        payload["ath"] = accessToken.map { .string(DPoPProof.hash(ofAccessToken: $0)) }
        for (name, value) in claims { payload[name] = value }
        var members: [String: JSONValue] = ["typ": "dpop+jwt", "jwk": jwk]
        for (name, value) in header { members[name] = value }
        return try key.sign(payload, header: members)
    }
}
