/// A person's profile, as the issuer's user-info endpoint gives it.
public struct UserInfo: Codable, Equatable, Sendable, JSONClaimContainer {
    /// The names of its claims.
    public typealias ClaimType = JWTClaim

    /// The profile as it was received.
    public let json: JSON

    /// Takes a profile.
    ///
    /// - Parameter json: An object.
    /// - Throws: ``MistypedMemberError`` if it is no object.
    public init(_ json: JSON) throws {
        guard json.objectValue != nil else { throw MistypedMemberError(key: "userinfo", expected: "an object", found: json.kind) }
        self.json = json
    }
}

/// What an issuer says about a token (RFC 7662).
public struct TokenInfo: Codable, Equatable, Sendable, JSONClaimContainer {
    /// The names of its claims.
    public typealias ClaimType = JWTClaim

    /// The answer as it was received.
    public let json: JSON

    /// Takes an answer.
    ///
    /// - Parameter json: An object.
    /// - Throws: ``MistypedMemberError`` if it is no object.
    public init(_ json: JSON) throws {
        guard json.objectValue != nil else { throw MistypedMemberError(key: "introspection", expected: "an object", found: json.kind) }
        self.json = json
    }

    /// Whether the token is good.
    public var active: Bool? { self["active"] }

    /// The name of the person whom the token was issued for.
    public var username: String? { self["username"] }
}
