public import Foundation

/// An OAuth 2.0 error response of the server (RFC 6749 §5.2).
public struct OAuth2ServerError: Error, Decodable, Sendable {
    /// The error code.
    public let code: Code

    /// The server's human-readable description.
    public let description: String?

    /// The other members of the response: strings, numbers, Booleans, and arrays and dictionaries of these.
    public var additionalValues: [String: any Sendable]

    /// The HTTP status of the response, if known.
    public internal(set) var statusCode: Int?

    /// The server's identifier of the request, if known.
    public internal(set) var requestId: String?

    /// The part of the sign-in that the server rejected, if known.
    package internal(set) var part: SignInPart?

    /// Creates an error.
    /// - Parameters:
    ///   - code: The member `error`.
    ///   - description: The member `error_description`.
    ///   - additionalValues: The other members.
    public init(code: String, description: String?, additionalValues: [String: any Sendable] = [:]) {
        self.code = Code(name: code)
        self.description = description
        self.additionalValues = additionalValues
    }

    /// Decodes the body of a response.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the body has no member `error`.
    public init(from decoder: any Decoder) throws {
        var values = try JSON(from: decoder).claimPayload
        guard let code = values.removeValue(forKey: "error") as? String else { throw ClaimError.missingRequiredValue(key: "error") }
        self.init(code: code, description: values.removeValue(forKey: "error_description") as? String, additionalValues: values)
    }

    /// Whether the error is temporary and a retry can succeed.
    var isTransient: Bool {
        if let statusCode, statusCode >= 500 || statusCode == 429 { return true }
        return code == .serverError || code == .temporarilyUnavailable
    }
}

extension OAuth2ServerError {
    /// The error code: the member `error`.
    public enum Code: RawRepresentable, Decodable, Equatable, Hashable, Sendable {
        /// The user has not decided yet.
        case authorizationPending
        /// The client sends requests too often.
        case slowDown
        /// The request has expired.
        case expiredToken
        /// The user or a policy denied the request.
        case accessDenied
        /// The client is unknown or its authentication failed.
        case invalidClient
        /// The credentials, the code or the refresh token are invalid or expired.
        case invalidGrant
        /// A parameter is missing or malformed.
        case invalidRequest
        /// A scope is unknown or not allowed.
        case invalidScope
        /// The access token is invalid or expired.
        case invalidToken
        /// The server failed.
        case serverError
        /// The server is temporarily unavailable.
        case temporarilyUnavailable
        /// The response type is not supported.
        case unsupportedResponseType
        /// The response mode is not supported.
        case unsupportedResponseMode
        /// The client is not allowed to use this grant.
        case unauthorizedClient
        /// The user has not decided yet, in Okta's direct authentication.
        case directAuthAuthorizationPending
        /// Another factor is required.
        case mfaRequired
        /// The one-time code is wrong.
        case invalidOTP
        /// The user rejected the request on the other device.
        case oobRejected
        /// The client supports none of the possible challenges.
        case invalidChallengeTypesSupported
        /// Any other code.
        case other(code: String)

        private static let standard: [Self] = [
            .authorizationPending, .slowDown, .expiredToken, .accessDenied, .invalidClient, .invalidGrant, .invalidRequest,
            .invalidScope, .invalidToken, .serverError, .temporarilyUnavailable, .unsupportedResponseType, .unsupportedResponseMode,
            .unauthorizedClient, .directAuthAuthorizationPending, .mfaRequired, .invalidOTP, .oobRejected,
            .invalidChallengeTypesSupported,
        ]
        private static let codesByName = Dictionary(uniqueKeysWithValues: standard.map { ($0.rawValue, $0) })

        /// Creates the code with this name, or ``other(code:)`` if the name is unknown. Returns `nil` for an empty name.
        public init?(rawValue: String) {
            guard !rawValue.isEmpty else { return nil }
            self.init(name: rawValue)
        }

        package init(name: String) { self = Self.codesByName[name] ?? .other(code: name) }

        /// The member `error`.
        public var rawValue: String {
            // A switch, because a dictionary with these cases as keys would call `rawValue` to hash its keys.
            switch self {
            case .authorizationPending: "authorization_pending"
            case .slowDown: "slow_down"
            case .expiredToken: "expired_token"
            case .accessDenied: "access_denied"
            case .invalidClient: "invalid_client"
            case .invalidGrant: "invalid_grant"
            case .invalidRequest: "invalid_request"
            case .invalidScope: "invalid_scope"
            case .invalidToken: "invalid_token"
            case .serverError: "server_error"
            case .temporarilyUnavailable: "temporarily_unavailable"
            case .unsupportedResponseType: "unsupported_response_type"
            case .unsupportedResponseMode: "unsupported_response_mode"
            case .unauthorizedClient: "unauthorized_client"
            case .directAuthAuthorizationPending: "direct_auth_authorization_pending"
            case .mfaRequired: "mfa_required"
            case .invalidOTP: "invalid_otp"
            case .oobRejected: "oob_rejected"
            case .invalidChallengeTypesSupported: "invalid_challenge_types_supported"
            case .other(let name): name
            }
        }
    }
}

extension OAuth2ServerError: Equatable {
    /// Whether the two errors have the same code, description and additional values. The HTTP status and the identifier of the
    /// request are ignored.
    public static func == (lhs: OAuth2ServerError, rhs: OAuth2ServerError) -> Bool {
        lhs.code == rhs.code && lhs.description == rhs.description
            && lhs.additionalValues.mapValues { String(describing: $0) } == rhs.additionalValues.mapValues { String(describing: $0) }
    }
}

extension OAuth2ServerError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { ErrorText(self) }
}

extension OAuth2ServerError: CustomReflectable {
    /// The server's description, the code, the HTTP status and the identifier of the request, for developers. The additional values are
    /// omitted because they can be secret.
    public var debugDescription: String {
        let details = [statusCode.map { "status \($0)" }, requestId.map { "request \($0)" }]
        guard let description, !description.isEmpty else {
            return technicalText("The server answered with the error \(code.rawValue).", details)
        }
        return technicalText(description, [code.rawValue] + details)
    }

    /// Code and description. The additional values are omitted because they can be secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.rawValue, "description": description as Any])
    }
}
