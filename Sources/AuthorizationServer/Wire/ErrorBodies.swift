internal import Foundation
internal import HTTPTypes
internal import IdentityEngine
internal import JOSE

/// Error answers in the two forms of the protocol.
extension ServerResponse {
    /// A refusal in the form that its code has: OAuth (RFC 6749 section 5.2) or API.
    ///
    /// - Parameters:
    ///   - refusal: What was refused.
    ///   - request: The request; its id names the error.
    ///   - triedBasic: Whether the client used the `Authorization` header, which a 401 then answers with a challenge.
    /// - Returns: The answer.
    static func refusal(_ refusal: Refusal, to request: ServerRequest, triedBasic: Bool = false) -> ServerResponse {
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
            members["error"] = .string(refusal.code.rawValue)
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

    /// An error in the API form; `errorCauses` stays empty because official clients cannot read objects there.
    static func api(
        _ status: HTTPResponse.Status, _ code: String, _ summary: String, _ request: ServerRequest
    ) -> ServerResponse {
        let body: JSONValue = [
            "errorCode": .string(code), "errorSummary": .string(summary), "errorLink": .string(code),
            "errorId": .string("oae" + request.context.requestID), "errorCauses": [],
        ]
        return ServerResponse(status: status, json: body.serialized())
    }

    /// `invalid_request`, made by the front door itself.
    static func invalidRequest(
        _ description: String, status: HTTPResponse.Status = .badRequest, _ request: ServerRequest
    ) -> ServerResponse {
        var response = refusal(Refusal(.invalidRequest, description, reason: description), to: request)
        response.status = status
        return response
    }

    /// 404 for a path that is nothing.
    static func pathNotFound(_ request: ServerRequest) -> ServerResponse {
        api(.notFound, "E0000007", "Not found: there is no such resource on this server.", request)
    }

    /// 404 for a path below an authorization server that is not there.
    static func serverNotFound(_ request: ServerRequest) -> ServerResponse {
        api(.notFound, "E0000007", "Not found: this organization has no such authorization server.", request)
    }

    /// 405 with the methods that the path has.
    static func methodNotAllowed(allow: String, _ request: ServerRequest) -> ServerResponse {
        var response = api(.methodNotAllowed, "E0000022", "The endpoint does not support the method. Use: \(allow).", request)
        response.headers[.allow] = allow
        return response
    }

    /// 500 or 503; what failed is for the log only.
    static func failure(_ error: any Error, _ request: ServerRequest) -> ServerResponse {
        if let error = error as? StoreError, error.code == .unavailable || error.code == .closed {
            var response = api(.serviceUnavailable, "E0000010", "The service is unavailable for a moment. Try again.", request)
            response.headers[.retryAfter] = "1"
            return response.uncached()
        }
        let summary = "Internal server error. Report it with the error's id."
        return api(.internalServerError, "E0000009", summary, request).uncached()
    }
}

extension RateLimitStatus {
    /// The value of `Retry-After`: whole seconds, at least 1.
    fileprivate func retryAfter(_ now: Date) -> String { String(max(1, Int(clamping: reset.timeIntervalSince(now).rounded(.up)))) }
}

extension Refusal.Code {
    /// The status that goes with the code.
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
