package import JOSE

/// An expected error response. Each protocol encodes the response in its own format.
package struct Refusal: Sendable, Equatable, Error {
    /// The kind of error. The names follow the error codes of OAuth 2.0 (RFC 6749 section 5.2 and its extensions).
    package enum Code: Sendable, CaseIterable {
        /// A parameter is missing, repeated or malformed.
        case invalidRequest
        /// The request object (a signed token) is invalid.
        case invalidRequestObject
        /// The client is unknown or failed to authenticate.
        case invalidClient
        /// The code, token or credential is invalid, or was issued to another client.
        case invalidGrant
        /// The client is not registered for this grant type.
        case unauthorizedClient
        case unsupportedGrantType
        /// A scope is unknown or was not granted.
        case invalidScope
        /// The user or a policy denied the request.
        case accessDenied
        /// Another factor is required; the response includes a token with which the sign-in continues.
        case mfaRequired
        /// The user has not responded yet.
        case authorizationPending
        /// The client polls too fast.
        case slowDown
        /// The code or transaction for which the client polls has expired.
        case expiredToken
        case invalidToken
        case insufficientScope
        /// The sign-in cannot meet the requested authentication requirements.
        case unmetAuthenticationRequirements
        /// No user has this name.
        case unknownUserID
        /// The binding message is too long or contains unsupported characters.
        case invalidBindingMessage
        /// The DPoP proof is invalid (RFC 9449).
        case invalidDPoPProof
        /// The DPoP proof must contain the nonce of this response (RFC 9449).
        case useDPoPNonce
        /// The response type is not `code`.
        case unsupportedResponseType
        case unsupportedResponseMode
        /// Request objects are not supported.
        case requestNotSupported
        /// The pushed request is unknown, expired or consumed.
        case invalidRequestURI
        /// The user is not signed in, and the client sent `prompt=none`.
        case loginRequired
        /// The user must interact, and the client sent `prompt=none`.
        case interactionRequired
        /// The user has not given consent, and the client sent `prompt=none`.
        case consentRequired
        case tooManyRequests
        /// The authorization server does not exist.
        case notFound
    }

    /// An HTTP status that differs from the default status of the code.
    package enum Status: Int, Sendable {
        case forbidden = 403
        case tooManyRequests = 429
    }

    package var code: Code
    /// A sentence for the user, without secrets and without hints for an attacker.
    package var description: String
    /// Additional members of the error body: `mfa_token`, `supported_challenge_types`.
    package var members: [String: JSONValue]
    /// The rule or check that decided, for the log only.
    package var reason: String
    /// The HTTP status in place of the default of ``code``; `nil` for the default.
    package var status: Status?
    /// The exceeded limit, for the headers of a response with status 429; `nil` for none.
    package var rateLimit: RateLimitStatus?
    /// Whether the user must see the error at once. Official clients wait and retry silently if a response with status 429 has all three
    /// rate-limit headers, so the server omits one.
    package var isForUser = false
    /// The nonce for the client's next proof, sent in the header `DPoP-Nonce`; `nil` for none. Always set with ``Code/useDPoPNonce``.
    package var nextNonce: String?
    /// Whether an access token was rejected because it must be sent with the scheme `DPoP` and a proof.
    package var asksForProof = false

    package init(
        _ code: Code, _ description: String, members: [String: JSONValue] = [:], reason: String, status: Status? = nil,
        rateLimit: RateLimitStatus? = nil
    ) {
        (self.code, self.description, self.members, self.reason, self.status) = (code, description, members, reason, status)
        self.rateLimit = rateLimit
    }
}
