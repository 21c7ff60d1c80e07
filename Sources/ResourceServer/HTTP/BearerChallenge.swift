/// The value of `WWW-Authenticate` (RFC 6750 section 3) and the status that goes with it.
struct BearerChallenge: Equatable {
    /// The HTTP status.
    let status: Int
    /// The RFC's error code; nil for a request without a token, which gets a plain challenge (section 3.1).
    let error: String?
    /// The sentence for the client's developer.
    let description: String?
    /// The scopes that the resource asks for.
    let scope: String?

    init(_ error: AccessTokenError) {
        switch error.code {
        case .missing:
            self.init(status: 401, error: nil, description: nil, scope: nil)
        case .badRequest:
            self.init(status: 400, error: "invalid_request", description: error.message, scope: nil)
        case .insufficientScope:
            self.init(
                status: 403, error: "insufficient_scope", description: error.message, scope: error.requiredScopes.joined(separator: " "))
        case .issuerUnavailable:
            self.init(status: 503, error: nil, description: error.message, scope: nil)
        default:
            self.init(status: 401, error: "invalid_token", description: error.message, scope: nil)
        }
    }

    private init(status: Int, error: String?, description: String?, scope: String?) {
        self.status = status
        self.error = error
        self.description = description
        self.scope = scope
    }

    /// The header's value. A challenge must have at least one parameter, so the realm is always there.
    ///
    /// - Parameter realm: What is protected.
    /// - Returns: The scheme and its parameters.
    func headerValue(realm: String) -> String {
        let parameters = [("realm", realm), ("error", error), ("error_description", description), ("scope", scope)]
        return "Bearer "
            + parameters.compactMap { name, value in value.map { "\(name)=\"\(Self.quotable($0))\"" } }.joined(separator: ", ")
    }

    /// The characters that the RFC allows between the quotes: no quote, no backslash, no control character, nothing beyond ASCII.
    private static func quotable(_ text: String) -> String {
        String(text.unicodeScalars.map { (0x20...0x7E).contains($0.value) && $0 != "\"" && $0 != "\\" ? Character($0) : "'" })
    }
}
