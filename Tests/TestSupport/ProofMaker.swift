public import Foundation
public import JOSE

/// Makes DPoP proofs (RFC 9449 section 4.2) as a client does, good ones unless a test changes them.
public struct ProofMaker: Sendable {
    /// The key that signs, and that its tokens are bound to.
    public let key: SigningKey

    /// Makes a client's key.
    ///
    /// - Parameter algorithm: What it signs with.
    /// - Throws: If the key cannot be made.
    public init(_ algorithm: JWSAlgorithm = .es256) throws {
        key = try SigningKey.generate(algorithm)
    }

    /// The thumbprint of the key.
    public var thumbprint: String { key.publicKey?.thumbprint ?? "" }

    /// The public key as the header has it.
    public var jwk: JSONValue {
        var jwk = key.publicKey?.json() ?? .null
        // Clients send the required members.
        for name in ["alg", "use"] { jwk[name] = nil }
        return jwk
    }

    /// Makes a proof.
    ///
    /// - Parameters:
    ///   - method: `htm`.
    ///   - uri: `htu`.
    ///   - time: `iat`.
    ///   - nonce: The server's nonce.
    ///   - accessToken: The token that `ath` is the hash of.
    ///   - claims: Claims to change; nil removes one.
    ///   - header: Members of the header to change; nil removes one.
    /// - Returns: The value of the header.
    /// - Throws: If it cannot be signed.
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
