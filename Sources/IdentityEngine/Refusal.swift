public import JOSE

/// An expected refusal, as the protocol spells it. A front door gives it its status and its form, and decides nothing.
public struct Refusal: Sendable, Equatable, Error {
    /// The error codes of the back-channel endpoints (RFC 6749 section 5.2 and its extensions).
    public enum Code: String, Sendable {
        /// A parameter is missing, twice there, or unreadable.
        case invalidRequest = "invalid_request"
        /// The request as a token is not good.
        case invalidRequestObject = "invalid_request_object"
        /// The client is unknown, or did not prove who it is.
        case invalidClient = "invalid_client"
        /// What was to be traded for tokens is not good, or not this client's.
        case invalidGrant = "invalid_grant"
        /// The client is not registered for this grant.
        case unauthorizedClient = "unauthorized_client"
        /// The server has no such grant.
        case unsupportedGrantType = "unsupported_grant_type"
        /// A scope is unknown, or more than was granted.
        case invalidScope = "invalid_scope"
        /// The person or a policy said no.
        case accessDenied = "access_denied"
        /// Another factor is needed; a token to go on with comes with it.
        case mfaRequired = "mfa_required"
        /// The person has not answered.
        case authorizationPending = "authorization_pending"
        /// Asked again too soon.
        case slowDown = "slow_down"
        /// What was waited for has ended.
        case expiredToken = "expired_token"
        /// The access token is not good.
        case invalidToken = "invalid_token"
        /// The access token lacks a scope.
        case insufficientScope = "insufficient_scope"
        /// No sign-in that the request asks for is possible.
        case unmetAuthenticationRequirements = "unmet_authentication_requirements"
        /// Nobody is called so.
        case unknownUserID = "unknown_user_id"
        /// The message for the phone is too long, or has characters that it can't show.
        case invalidBindingMessage = "invalid_binding_message"
        /// The proof of the client's key is not good (RFC 9449).
        case invalidDPoPProof = "invalid_dpop_proof"
        /// The proof must have the nonce that comes with this (RFC 9449).
        case useDPoPNonce = "use_dpop_nonce"
        /// Only codes are given here.
        case unsupportedResponseType = "unsupported_response_type"
        /// The answer can't be sent so.
        case unsupportedResponseMode = "unsupported_response_mode"
        /// Requests as tokens are not taken.
        case requestNotSupported = "request_not_supported"
        /// What was pushed is unknown, used or ended.
        case invalidRequestURI = "invalid_request_uri"
        /// Nobody is signed in, and the client wanted no page.
        case loginRequired = "login_required"
        /// It takes a page, and the client wanted none.
        case interactionRequired = "interaction_required"
        /// The person was not asked, and the client wanted no page.
        case consentRequired = "consent_required"
        /// Too many requests: the API form `E0000047` with status 429.
        case tooManyRequests = "E0000047"
        /// No such authorization server: the API form `E0000007` with status 404.
        case notFound = "E0000007"
    }

    /// A status that a code does not have by itself.
    public enum Status: Int, Sendable {
        /// 403.
        case forbidden = 403
        /// 429.
        case tooManyRequests = 429
    }

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
    /// Whether the user must see the refusal at once. Official clients wait and retry silently if a response with status 429 has all three
    /// rate-limit headers, so the server omits one.
    public var isForUser = false
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
