public import Foundation
public import JOSE

/// Why a token does not open a resource.
///
/// The code is for programs, the message for the developer of the client: it says what is wrong and holds nothing that the
/// client does not know. Equal by code; a code is a pattern: `catch AccessTokenError.Code.expired`.
public struct AccessTokenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A reason; more may be added in later versions.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Makes a code from its name.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request has no token.
        public static let missing = Code(rawValue: "missing")
        /// The request carries a token in a way that is not allowed: in the query, twice, or unreadable.
        public static let badRequest = Code(rawValue: "badRequest")
        /// The token is no JSON Web Token, its signature is wrong, or its key is not one of the issuer's.
        public static let notGenuine = Code(rawValue: "notGenuine")
        /// The token's lifetime is over.
        public static let expired = Code(rawValue: "expired")
        /// The token's lifetime has not begun, or it says that it was issued later than now.
        public static let notYetValid = Code(rawValue: "notYetValid")
        /// The token is of another type than an access token: an ID token, a logout token, or a token with another `typ`.
        public static let wrongType = Code(rawValue: "wrongType")
        /// The token is from another issuer.
        public static let wrongIssuer = Code(rawValue: "wrongIssuer")
        /// The token is for another audience.
        public static let wrongAudience = Code(rawValue: "wrongAudience")
        /// The token was given to another client.
        public static let wrongClient = Code(rawValue: "wrongClient")
        /// The issuer says that the token is not active (any more).
        public static let inactive = Code(rawValue: "inactive")
        /// The token is good, and lacks a scope.
        public static let insufficientScope = Code(rawValue: "insufficientScope")
        /// The token is bound to a key, and the request does not prove that its sender has it.
        public static let keyNotProved = Code(rawValue: "keyNotProved")
        /// The token came by the scheme `DPoP`, and is bound to no key.
        public static let notBound = Code(rawValue: "notBound")
        /// The proof that came with the token is not good for this request, or was used before.
        public static let badProof = Code(rawValue: "badProof")
        /// The proof must carry a nonce of the resource server's: ``AccessTokenError/nonce``.
        public static let nonceNeeded = Code(rawValue: "nonceNeeded")
        /// More proofs arrive than can be remembered. Nothing is known of this one.
        public static let busy = Code(rawValue: "busy")
        /// The issuer can't be asked for its keys, or about the token. Nothing is known of the token.
        public static let issuerUnavailable = Code(rawValue: "issuerUnavailable")

        /// Matches an error by its code.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? AccessTokenError)?.code == code }
    }

    /// The reason, for programs to act upon.
    public let code: Code
    /// What is wrong and what to do about it, in one sentence.
    public let message: String
    /// The scopes that the resource asks for, with ``Code/insufficientScope``.
    public let requiredScopes: [String]
    /// The nonce that the next proof must carry, with ``Code/nonceNeeded``.
    public let nonce: String?
    /// What caused it, for the log.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, requiredScopes: [String] = [], nonce: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.requiredScopes = requiredScopes
        self.nonce = nonce
        self.underlying = underlying
    }

    /// The code, the message and the cause.
    public var description: String { "\(code.rawValue): \(message)" + (underlying.map { " (\($0))" } ?? "") }

    /// Whether two errors have the same code.
    public static func == (a: AccessTokenError, b: AccessTokenError) -> Bool { a.code == b.code }
}

/// What an access token says, after it was verified.
///
/// A value of this type exists only for a token that passed every check of an ``AccessTokenVerifier``; it does not contain
/// the token itself. `Sendable`, and free to keep.
public struct AccessToken: Sendable, Equatable {
    /// Every claim, by name.
    public let claims: [String: JSONValue]
    /// What was granted (`scp`, or `scope` as RFC 9068 section 2.2.3 has it).
    public let scopes: [String]
    /// When it ends.
    public let expiresAt: Date

    init(claims: [String: JSONValue], expiresAt: Date) {
        self.claims = claims
        self.expiresAt = expiresAt
        scopes =
            claims["scp"]?.stringArrayValue
            ?? (claims["scope"] ?? claims["scp"])?.stringValue?.split(separator: " ").map(String.init) ?? []
    }

    /// The `sub`: the login of the person, or the client id of a service.
    public var subject: String? { claims["sub"]?.stringValue }
    /// The `uid`: the id of the person; nil for a service.
    public var userID: String? { claims["uid"]?.stringValue }
    /// The `cid`, or `client_id`: the client that the token was given to.
    public var clientID: String? { (claims["cid"] ?? claims["client_id"])?.stringValue }

    /// The thumbprint of the key that the token is bound to (`cnf.jkt`; RFC 9449 section 6.1); nil for a bearer token.
    public var keyThumbprint: String? { claims["cnf"]?["jkt"]?.stringValue }

    /// Whether a scope was granted.
    ///
    /// - Parameter scope: One scope.
    /// - Returns: Whether the token has it.
    public func has(scope: String) -> Bool { scopes.contains(scope) }
}
