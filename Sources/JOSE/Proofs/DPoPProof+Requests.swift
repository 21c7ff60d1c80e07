extension DPoPProof {
    /// Makes a proof in the compact form of RFC 7515, with ES256.
    /// - Parameters:
    ///   - publicKey: The members of the public key, on P-256.
    ///   - sign: Signs the header and the payload.
    package static func make(
        method: String, uri: String, issuedAt: Int64, jwtID: String, nonce: String? = nil, accessToken: String? = nil, publicKey: JSONValue,
        sign: ([UInt8]) throws -> [UInt8]
    ) rethrows -> String {
        let header: JSONValue = ["typ": "dpop+jwt", "alg": "ES256", "jwk": publicKey]
        var claims: JSONValue = ["htm": .string(method), "htu": .string(uri), "iat": .integer(issuedAt), "jti": .string(jwtID)]
        claims["nonce"] = nonce.map(JSONValue.string)
        claims["ath"] = accessToken.map { .string(hash(ofAccessToken: $0)) }
        let signed = "\(Base64URL.encode(header.serialized())).\(Base64URL.encode(claims.serialized()))"
        return "\(signed).\(Base64URL.encode(try sign(Array(signed.utf8))))"
    }

    /// Verifies the proof of a request and compares it with that request.
    /// - Parameter values: The values of the `DPoP` header fields. A request must have exactly one.
    package init(
        ofRequest values: [String], method: String, uri: String, accessToken: String?, window: Double = DPoPProof.standardWindow,
        now: Double
    ) throws(JOSEError) {
        guard values.count == 1 else {
            throw JOSEError(
                .malformed, values.isEmpty ? "The request needs a proof in the header DPoP." : "The request has more than one DPoP header.")
        }
        try self.init(verifying: values[0])
        try check(method: method, uri: uri, accessToken: accessToken, window: window, now: now)
    }
}
