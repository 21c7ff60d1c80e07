public import JOSE

/// An expected refusal, as the protocol spells it. A front door gives it its status and its form, and decides nothing.
public struct Refusal: Sendable, Equatable, Error {
    /// The error codes of the back-channel endpoints (RFC 6749 section 5.2 and its extensions).
    public enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidRequestObject = "invalid_request_object"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
        case accessDenied = "access_denied"
        case mfaRequired = "mfa_required"
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
        case invalidToken = "invalid_token"
        case insufficientScope = "insufficient_scope"
        case unmetAuthenticationRequirements = "unmet_authentication_requirements"
        case unknownUserID = "unknown_user_id"
        case invalidBindingMessage = "invalid_binding_message"
        case invalidDPoPProof = "invalid_dpop_proof"
        case useDPoPNonce = "use_dpop_nonce"
        case unsupportedResponseType = "unsupported_response_type"
        case unsupportedResponseMode = "unsupported_response_mode"
        case requestNotSupported = "request_not_supported"
        case invalidRequestURI = "invalid_request_uri"
        case loginRequired = "login_required"
        case interactionRequired = "interaction_required"
        case consentRequired = "consent_required"
        /// Too many requests: the API form `E0000047` with status 429.
        case tooManyRequests = "E0000047"
        /// No such authorization server: the API form `E0000007` with status 404.
        case notFound = "E0000007"
    }

    /// A status that a code does not have by itself.
    public enum Status: Int, Sendable { case forbidden = 403, tooManyRequests = 429 }

    /// What a program reads.
    public var code: Code
    /// A sentence for a person, without secrets and without hints for an attacker.
    public var description: String
    /// Further members of the error body: `mfa_token`, `supported_challenge_types`.
    public var members: [String: JSONValue]
    /// Why, for the log only: the rule or the check that decided.
    public var reason: String
    /// Where the protocol has one code with two statuses, the other one.
    public var status: Status?
    /// The limit that was met, for the headers of a refusal with ``Code/tooManyRequests``.
    public var rateLimit: RateLimitStatus?
    /// The nonce that the client's next proof should carry, for the header `DPoP-Nonce`; always there with ``Code/useDPoPNonce``.
    public var nextNonce: String?
    /// Whether an access token is refused for want of a proof: it has to come by the scheme `DPoP`.
    public var asksForProof = false

    /// Makes a refusal.
    public init(
        _ code: Code, _ description: String, members: [String: JSONValue] = [:], reason: String, status: Status? = nil,
        rateLimit: RateLimitStatus? = nil
    ) {
        self.code = code
        self.description = description
        self.members = members
        self.reason = reason
        self.status = status
        self.rateLimit = rateLimit
    }
}
