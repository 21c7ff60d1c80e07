internal import JOSE

/// The status and the challenge (`WWW-Authenticate`) of a rejected request (RFC 6750 §3, RFC 9449 §7.1).
struct AccessTokenRefusal {
    let status: Int
    /// The error code of the RFC; `nil` for a request without a token (RFC 6750 §3.1) and for a 503.
    let error: String?
    /// The message for the client developer.
    let description: String?
    /// The scopes that the resource requires.
    let scope: String?
    /// Whether the challenge uses the scheme `DPoP`.
    let isForProof: Bool

    /// Maps an error to a refusal. `byProof` says whether the token was sent with the scheme `DPoP`.
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

    /// Returns the value of `WWW-Authenticate`, always with a realm because a challenge needs at least one parameter.
    /// If the request had no token and `acceptsProofs` is true, the value contains a challenge for each scheme.
    func challenge(realm: String, acceptsProofs: Bool) -> String {
        let value = AccessTokenChallenge.value(
            isForProof ? .dpop : .bearer, realm: realm, error: error, description: description, scope: scope)
        return error == nil && acceptsProofs && !isForProof ? "\(value), \(AccessTokenChallenge.value(.dpop, realm: realm))" : value
    }
}
