internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import JOSE
package import ServerHTTP

extension ServerResponse {
    /// Returns the error response of a refusal, in the OAuth form (RFC 6749 section 5.2) or the API form. With `triedBasic`, the client
    /// used the `Authorization` header, and the response to invalid credentials has a Basic challenge.
    package static func refusal(_ refusal: Refusal, to request: ServerRequest, triedBasic: Bool = false) -> ServerResponse {
        var response: ServerResponse
        switch refusal.code {
        case .tooManyRequests:
            response = api(.tooManyRequests, "E0000047", refusal.description, request)
            if let limit = refusal.rateLimit {
                response.headers.set(limit)
                response.headers[.retryAfter] = limit.retryAfter(request.context.now)
            }
        case .notFound:
            response = api(.notFound, "E0000007", refusal.description, request)
        default:
            var members = refusal.members
            members["error"] = .string(refusal.code.wireName)
            members["error_description"] = .string(refusal.description)
            let status = refusal.status.map { HTTPResponse.Status(code: $0.rawValue) } ?? refusal.code.status
            response = ServerResponse(status: status, json: JSONValue.object(members).serialized())
            if let limit = refusal.rateLimit {
                response.headers.set(limit)
                if refusal.isForUser {
                    response.headers[.rateLimitRemaining] = nil
                    response.headers[.retryAfter] = limit.retryAfter(request.context.now)
                }
            }
        }
        if refusal.code == .invalidClient, triedBasic {
            response.headers[.wwwAuthenticate] = #"Basic realm="countersign", charset="UTF-8""#
        }
        if let nonce = refusal.nextNonce { response.headers[.dpopNonce] = nonce }
        response.trace.reason = refusal.reason
        return response.uncached()
    }
}

extension Refusal.Code {
    /// The `error` value of OAuth 2.0 and its extensions.
    package var wireName: String {
        switch self {
        case .invalidRequest: "invalid_request"
        case .invalidRequestObject: "invalid_request_object"
        case .invalidClient: "invalid_client"
        case .invalidGrant: "invalid_grant"
        case .unauthorizedClient: "unauthorized_client"
        case .unsupportedGrantType: "unsupported_grant_type"
        case .invalidScope: "invalid_scope"
        case .accessDenied: "access_denied"
        case .mfaRequired: "mfa_required"
        case .authorizationPending: "authorization_pending"
        case .slowDown: "slow_down"
        case .expiredToken: "expired_token"
        case .invalidToken: "invalid_token"
        case .insufficientScope: "insufficient_scope"
        case .unmetAuthenticationRequirements: "unmet_authentication_requirements"
        case .unknownUserID: "unknown_user_id"
        case .invalidBindingMessage: "invalid_binding_message"
        case .invalidDPoPProof: "invalid_dpop_proof"
        case .useDPoPNonce: "use_dpop_nonce"
        case .unsupportedResponseType: "unsupported_response_type"
        case .unsupportedResponseMode: "unsupported_response_mode"
        case .requestNotSupported: "request_not_supported"
        case .invalidRequestURI: "invalid_request_uri"
        case .loginRequired: "login_required"
        case .interactionRequired: "interaction_required"
        case .consentRequired: "consent_required"
        // These errors have the form of the API, not of OAuth.
        case .tooManyRequests: "E0000047"
        case .notFound: "E0000007"
        }
    }

    package init?(wireName: String) {
        guard let code = Self.allCases.first(where: { $0.wireName == wireName }) else { return nil }
        self = code
    }

    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .invalidClient, .invalidToken: .unauthorized
        case .mfaRequired, .insufficientScope: .forbidden
        case .tooManyRequests: .tooManyRequests
        case .notFound: .notFound
        case .invalidRequest, .invalidRequestObject, .invalidGrant, .unauthorizedClient, .unsupportedGrantType, .invalidScope,
            .accessDenied, .authorizationPending, .slowDown, .expiredToken, .unmetAuthenticationRequirements, .unknownUserID,
            .invalidBindingMessage, .invalidDPoPProof, .useDPoPNonce,
            .unsupportedResponseType, .unsupportedResponseMode, .requestNotSupported, .invalidRequestURI,
            .loginRequired, .interactionRequired, .consentRequired:
            .badRequest
        }
    }
}
