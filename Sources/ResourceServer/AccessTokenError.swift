public import Foundation
public import JOSE

/// An error that says why an access token was rejected.
/// Programs use the code; client developers read the message. The message contains only facts that the client already knows. Errors are
/// equal if their codes are equal. A code also works as a pattern: `catch AccessTokenError.Code.expired`.
public struct AccessTokenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason for the error. Later versions may add reasons.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request has no access token.
        public static let missing = Code(rawValue: "missing")
        /// The token is in the query, the request has several `Authorization` headers, or the header is malformed.
        public static let badRequest = Code(rawValue: "badRequest")
        /// The token is not a JSON Web Token, its signature is invalid, or its key is not one of the issuer's keys.
        public static let notGenuine = Code(rawValue: "notGenuine")
        /// The token has expired.
        public static let expired = Code(rawValue: "expired")
        /// The token is not valid yet, or its issue time is in the future.
        public static let notYetValid = Code(rawValue: "notYetValid")
        /// The token is not an access token. For example, it is an ID token, a logout token, or a token with another `typ`.
        public static let wrongType = Code(rawValue: "wrongType")
        /// The token comes from another issuer.
        public static let wrongIssuer = Code(rawValue: "wrongIssuer")
        /// The token is intended for another audience.
        public static let wrongAudience = Code(rawValue: "wrongAudience")
        /// The token was issued to another client.
        public static let wrongClient = Code(rawValue: "wrongClient")
        /// The issuer reports that the token is not active.
        public static let inactive = Code(rawValue: "inactive")
        /// The token is valid but lacks a scope.
        public static let insufficientScope = Code(rawValue: "insufficientScope")
        /// The token is valid, but the user's sign-in does not meet ``AccessTokenError/requiredAuthentication``. A new sign-in can meet it
        /// (RFC 9470).
        public static let insufficientAuthentication = Code(rawValue: "insufficientAuthentication")
        /// The token has the type `at+jwt` but lacks a claim that RFC 9068 §2.2 requires.
        public static let missingClaim = Code(rawValue: "missingClaim")
        /// The token is bound to a key, and the request does not prove possession of that key.
        public static let keyNotProved = Code(rawValue: "keyNotProved")
        /// The token was sent with the scheme `DPoP` but is not bound to a key.
        public static let notBound = Code(rawValue: "notBound")
        /// The proof is invalid for this request, or was used before.
        public static let badProof = Code(rawValue: "badProof")
        /// The proof must contain a nonce from the resource server: ``AccessTokenError/nonce``.
        public static let nonceNeeded = Code(rawValue: "nonceNeeded")
        /// The verifier remembers too many proofs to accept another one. The proof may be valid.
        public static let busy = Code(rawValue: "busy")
        /// The issuer cannot be reached for its keys or for introspection. The token may be valid.
        public static let issuerUnavailable = Code(rawValue: "issuerUnavailable")

        /// Matches an error by its code.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? AccessTokenError)?.code == code }
    }

    /// The reason for the error.
    public let code: Code
    /// A sentence that says what is wrong and what to do about it.
    public let message: String
    /// The scopes that the resource requires, for ``Code/insufficientScope``, and for ``Code/insufficientAuthentication`` if the token also
    /// lacks a scope; otherwise empty.
    public let requiredScopes: [String]
    /// The sign-in that the resource requires, for ``Code/insufficientAuthentication``; `nil` for other codes.
    public let requiredAuthentication: AuthenticationRequirement?
    /// The nonce that the next proof must contain, for ``Code/nonceNeeded``; `nil` for other codes.
    public let nonce: String?
    /// The cause, for the log; `nil` if there is none.
    public let underlying: (any Error)?

    init(
        _ code: Code, _ message: String, requiredScopes: [String] = [], requiredAuthentication: AuthenticationRequirement? = nil,
        nonce: String? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.requiredScopes = requiredScopes
        self.requiredAuthentication = requiredAuthentication
        self.nonce = nonce
        self.underlying = underlying
    }

    /// The code, the message and the cause.
    public var description: String { "\(code.rawValue): \(message)" + (underlying.map { " (\($0))" } ?? "") }

    /// Whether two errors have the same code.
    public static func == (a: AccessTokenError, b: AccessTokenError) -> Bool { a.code == b.code }
}

/// The claims of a verified access token.
/// Only an ``AccessTokenVerifier`` creates a value, after the token has passed all checks. The value does not contain the token itself.
/// `Sendable`.
public struct AccessToken: Sendable, Equatable {
    /// All claims by name.
    public let claims: [String: JSONValue]
    /// The granted scopes: `scp`, or `scope` as in RFC 9068 §2.2.3.
    public let scopes: [String]
    /// The expiration time; the distant future if introspection returned none.
    public let expiresAt: Date

    init(claims: [String: JSONValue], expiresAt: Date) {
        self.claims = claims
        self.expiresAt = expiresAt
        scopes =
            claims["scp"]?.stringArrayValue
            ?? (claims["scope"] ?? claims["scp"])?.stringValue?.split(separator: " ").map(String.init) ?? []
    }

    /// The `sub`: the login of the user, or the client ID of a service; `nil` if the token has none.
    public var subject: String? { claims["sub"]?.stringValue }
    /// The `uid`: the user's ID; `nil` for a service.
    public var userID: String? { claims["uid"]?.stringValue }
    /// The client to which the token was issued (`cid` or `client_id`); `nil` if the token has none.
    public var clientID: String? { (claims["cid"] ?? claims["client_id"])?.stringValue }

    /// The thumbprint of the key to which the token is bound (`cnf.jkt`, RFC 9449 §6.1); `nil` for a bearer token.
    public var keyThumbprint: String? { claims["cnf"]?["jkt"]?.stringValue }

    /// The time at which the user signed in (`auth_time`); `nil` if the token has none, as for a service, or if it is not a time.
    public var authenticationTime: Date? { claims["auth_time"]?.doubleValue.flatMap(Date.init(numericDate:)) }
    /// The authentication context class that the sign-in met (`acr`); `nil` if the token has none.
    public var authenticationContextClass: String? { claims["acr"]?.stringValue }
    /// The methods of the sign-in (`amr`); empty if the token has none. Many issuers send them only in ID tokens.
    public var authenticationMethods: [String] { claims["amr"]?.stringArrayValue ?? [] }

    /// Whether the token has a scope.
    public func has(scope: String) -> Bool { scopes.contains(scope) }
}
