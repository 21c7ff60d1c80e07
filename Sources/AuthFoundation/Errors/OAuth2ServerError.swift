public import Foundation

/// An error that the server answered with in the form of OAuth 2.0 (RFC 6749, 5.2).
public struct OAuth2ServerError: Error, Decodable, Sendable {
    /// What kind of error it is.
    public let code: Code

    /// What the server says about it, for a person to read.
    public let description: String?

    /// Further members of the answer: strings, numbers, booleans, and lists of them.
    public var additionalValues: [String: any Sendable]

    /// The HTTP status of the answer, if the error came with one.
    public internal(set) var statusCode: Int?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The member `error`.
    ///   - description: The member `error_description`.
    ///   - additionalValues: Further members.
    public init(code: String, description: String?, additionalValues: [String: any Sendable] = [:]) {
        self.code = Code(rawValue: code)
        self.description = description
        self.additionalValues = additionalValues
    }

    /// Reads the answer's body.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if there is no `error`.
    public init(from decoder: any Decoder) throws {
        var values = try JSON(from: decoder).claimPayload
        guard let code = values.removeValue(forKey: "error") as? String else { throw ClaimError.missingRequiredValue(key: "error") }
        self.init(code: code, description: values.removeValue(forKey: "error_description") as? String, additionalValues: values)
    }

    /// Whether it says only that the server can't answer now.
    var isTransient: Bool {
        if let statusCode, statusCode >= 500 || statusCode == 429 { return true }
        return code == .serverError || code == .temporarilyUnavailable
    }
}

extension OAuth2ServerError {
    /// What kind of error it is: the member `error`.
    public enum Code: RawRepresentable, Decodable, Equatable, Hashable, Sendable {
        /// The person has not decided yet.
        case authorizationPending
        /// The client asks too often.
        case slowDown
        /// The request has expired.
        case expiredToken
        /// The person or a policy refused.
        case accessDenied
        /// The client is not known or did not prove who it is.
        case invalidClient
        /// The credentials, the code or the refresh token are not good, or no longer.
        case invalidGrant
        /// A parameter is missing or malformed.
        case invalidRequest
        /// A scope is not known or not allowed.
        case invalidScope
        /// The access token is not good, or no longer.
        case invalidToken
        /// The server failed.
        case serverError
        /// The server can't answer now.
        case temporarilyUnavailable
        /// The response type is not supported.
        case unsupportedResponseType
        /// The response mode is not supported.
        case unsupportedResponseMode
        /// The client may not use this grant.
        case unauthorizedClient
        /// The person has not decided yet.
        case directAuthAuthorizationPending
        /// Another factor is needed.
        case mfaRequired
        /// The one-time code is wrong.
        case invalidOTP
        /// The person rejected the request on the other device.
        case oobRejected
        /// None of the challenges that the client can answer is possible.
        case invalidChallengeTypesSupported
        /// Any other, by its name.
        case other(code: String)

        private static let standard: [Self] = [
            .authorizationPending, .slowDown, .expiredToken, .accessDenied, .invalidClient, .invalidGrant, .invalidRequest,
            .invalidScope, .invalidToken, .serverError, .temporarilyUnavailable, .unsupportedResponseType, .unsupportedResponseMode,
            .unauthorizedClient, .directAuthAuthorizationPending, .mfaRequired, .invalidOTP, .oobRejected,
            .invalidChallengeTypesSupported,
        ]
        private static let codesByName = Dictionary(uniqueKeysWithValues: standard.map { ($0.rawValue, $0) })

        /// The kind of that name.
        ///
        /// - Parameter rawValue: The member `error`.
        public init(rawValue: String) {
            self = Self.codesByName[rawValue] ?? .other(code: rawValue)
        }

        /// The member `error`.
        public var rawValue: String {
            // A switch and no table: a table by case would hash cases, which hashes this.
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
    /// Whether both have the same code, description and additional values.
    public static func == (lhs: OAuth2ServerError, rhs: OAuth2ServerError) -> Bool {
        lhs.code == rhs.code && lhs.description == rhs.description
            && lhs.additionalValues.mapValues { String(describing: $0) } == rhs.additionalValues.mapValues { String(describing: $0) }
    }
}

extension OAuth2ServerError: LocalizedError {
    /// What the server says about it, and the code.
    public var errorDescription: String? {
        if let description, !description.isEmpty {
            return "Authentication error: \(description) (\(code.rawValue))."
        }
        return "Authentication error: \(code.rawValue)."
    }
}

extension OAuth2ServerError: CustomDebugStringConvertible, CustomReflectable {
    /// Code and description; the additional values may be secrets and are left out.
    public var debugDescription: String {
        "OAuth2ServerError(code: \(code.rawValue), description: \(description ?? "nil"))"
    }

    /// Code and description; the additional values may be secrets and are left out.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.rawValue, "description": description as Any])
    }
}
