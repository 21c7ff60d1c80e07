public import Foundation
public import JOSE

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
