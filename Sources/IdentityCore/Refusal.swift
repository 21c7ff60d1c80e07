package import JOSE

/// An expected refusal. Each protocol spells it in its own form.
package struct Refusal: Sendable, Equatable, Error {
    /// The kind of a refusal. The names follow the errors of OAuth 2.0 (RFC 6749 section 5.2 and its extensions).
    package enum Code: Sendable, CaseIterable {
        /// A parameter is missing, twice there, or unreadable.
        case invalidRequest
        /// The request as a token is not good.
        case invalidRequestObject
        /// The client is unknown, or did not prove who it is.
        case invalidClient
        /// What was to be traded for tokens is not good, or not this client's.
        case invalidGrant
        /// The client is not registered for this grant.
        case unauthorizedClient
        /// The server has no such grant.
        case unsupportedGrantType
        /// A scope is unknown, or more than was granted.
        case invalidScope
        /// The person or a policy said no.
        case accessDenied
        /// Another factor is needed; a token to go on with comes with it.
        case mfaRequired
        /// The person has not answered.
        case authorizationPending
        /// Asked again too soon.
        case slowDown
        /// What was waited for has ended.
        case expiredToken
        /// The access token is not good.
        case invalidToken
        /// The access token lacks a scope.
        case insufficientScope
        /// No sign-in that the request asks for is possible.
        case unmetAuthenticationRequirements
        /// Nobody is called so.
        case unknownUserID
        /// The message for the phone is too long, or has characters that it can't show.
        case invalidBindingMessage
        /// The proof of the client's key is not good (RFC 9449).
        case invalidDPoPProof
        /// The proof must have the nonce that comes with this (RFC 9449).
        case useDPoPNonce
        /// Only codes are given here.
        case unsupportedResponseType
        /// The answer can't be sent so.
        case unsupportedResponseMode
        /// Requests as tokens are not taken.
        case requestNotSupported
        /// What was pushed is unknown, used or ended.
        case invalidRequestURI
        /// Nobody is signed in, and the client wanted no page.
        case loginRequired
        /// It takes a page, and the client wanted none.
        case interactionRequired
        /// The person was not asked, and the client wanted no page.
        case consentRequired
        /// Too many requests.
        case tooManyRequests
        /// No such authorization server.
        case notFound
    }

    /// A status that a code does not have by itself.
    package enum Status: Int, Sendable {
        /// 403.
        case forbidden = 403
        /// 429.
        case tooManyRequests = 429
    }

    /// What a program reads.
    package var code: Code
    /// A sentence for a person, without secrets and without hints for an attacker.
    package var description: String
    /// Further members of the error body: `mfa_token`, `supported_challenge_types`.
    package var members: [String: JSONValue]
    /// Why, for the log only: the rule or the check that decided.
    package var reason: String
    /// Where the protocol has one code with two statuses, the other one.
    package var status: Status?
    /// The limit that was met, for the headers of a refusal with ``Code/tooManyRequests``.
    package var rateLimit: RateLimitStatus?
    /// Whether the user must see the refusal at once. Official clients wait and retry silently if a response with status 429 has all three
    /// rate-limit headers, so the server omits one.
    package var isForUser = false
    /// The nonce that the client's next proof should carry, for the header `DPoP-Nonce`; always there with ``Code/useDPoPNonce``.
    package var nextNonce: String?
    /// Whether an access token is refused for want of a proof: it has to come by the scheme `DPoP`.
    package var asksForProof = false

    /// Makes a refusal.
    package init(
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
