internal import JOSE

/// The value of `WWW-Authenticate` (RFC 6750 section 3, RFC 9449 section 7.1) and the status that goes with it.
struct AccessTokenChallenge: Equatable {
    /// The HTTP status.
    let status: Int
    /// The RFC's error code; nil for a request without a token, which gets a plain challenge (section 3.1).
    let error: String?
    /// The sentence for the client's developer.
    let description: String?
    /// The scopes that the resource asks for.
    let scope: String?
    /// Whether the token has to come by the scheme `DPoP`.
    let isForProof: Bool

    /// - Parameters:
    ///   - error: Why the request is refused.
    ///   - byProof: Whether its token came by the scheme `DPoP`.
    init(_ error: AccessTokenError, byProof: Bool) {
        switch error.code {
        case .missing:
            self.init(401, nil, nil, byProof)
        case .badRequest:
            self.init(400, "invalid_request", error.message, byProof)
        case .insufficientScope:
            self.init(403, "insufficient_scope", error.message, byProof, scope: error.requiredScopes.joined(separator: " "))
        case .issuerUnavailable, .busy: self.init(503, nil, error.message, byProof)
        case .badProof: self.init(401, "invalid_dpop_proof", error.message, true)
        case .nonceNeeded: self.init(401, "use_dpop_nonce", error.message, true)
        case .keyNotProved: self.init(401, "invalid_token", error.message, true)
        default: self.init(401, "invalid_token", error.message, byProof)
        }
    }

    private init(_ status: Int, _ error: String?, _ description: String?, _ isForProof: Bool, scope: String? = nil) {
        self.status = status
        self.error = error
        self.description = description
        self.scope = scope
        self.isForProof = isForProof
    }

    /// The header's value. A challenge must have at least one parameter, so the realm is always there.
    ///
    /// - Parameters:
    ///   - realm: What is protected.
    ///   - acceptsProofs: Whether to ask for tokens of both kinds, where the request had none.
    /// - Returns: The scheme and its parameters; two of them for both kinds.
    func headerValue(realm: String, acceptsProofs: Bool) -> String {
        let value = challenge(isForProof ? "DPoP" : "Bearer", realm: realm)
        return error == nil && acceptsProofs && !isForProof ? "\(value), \(challenge("DPoP", realm: realm))" : value
    }

    private func challenge(_ scheme: String, realm: String) -> String {
        let algorithms = scheme == "DPoP" ? DPoPProof.algorithms.map(\.rawValue).joined(separator: " ") : nil
        let parameters = [
            ("realm", realm), ("error", error), ("error_description", description), ("scope", scope), ("algs", algorithms),
        ]
        return scheme + " "
            + parameters.compactMap { name, value in value.map { "\(name)=\"\(Self.quotable($0))\"" } }.joined(separator: ", ")
    }

    /// The characters that the RFC allows between the quotes: no quote, no backslash, no control character, nothing beyond ASCII.
    private static func quotable(_ text: String) -> String {
        String(text.unicodeScalars.map { (0x20...0x7E).contains($0.value) && $0 != "\"" && $0 != "\\" ? Character($0) : "'" })
    }
}
