/// The user's profile from the issuer's user-info endpoint.
public struct UserInfo: Codable, Equatable, Sendable, JSONClaimContainer {
    /// The names of the claims.
    public typealias ClaimType = JWTClaim

    /// The profile as received.
    public let json: JSON

    /// Creates a profile from a JSON object.
    /// - Throws: ``MistypedMemberError`` if the value is not an object.
    public init(_ json: JSON) throws {
        guard json.object != nil else { throw MistypedMemberError(key: "userinfo", expected: "an object", found: json.kind) }
        self.json = json
    }
}

/// The issuer's information about a token (RFC 7662).
public struct TokenInfo: Codable, Equatable, Sendable, JSONClaimContainer {
    /// The names of the claims.
    public typealias ClaimType = JWTClaim

    /// The response as received.
    public let json: JSON

    /// Creates the information from a JSON object.
    /// - Throws: ``MistypedMemberError`` if the value is not an object.
    public init(_ json: JSON) throws {
        guard json.object != nil else { throw MistypedMemberError(key: "introspection", expected: "an object", found: json.kind) }
        self.json = json
    }

    /// Whether the token is valid; `nil` if the response does not say this.
    public var active: Bool? { self["active"] }

    /// The name of the user for whom the token was issued; `nil` if the response does not contain it.
    public var username: String? { self["username"] }
}
