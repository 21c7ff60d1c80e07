public import JOSE

/// An unsigned token, which a test can change before it is signed.
public struct TokenDraft: Sendable {
    /// The signing key.
    public var key: SigningKey
    /// The header, without the members that the key adds.
    public var header: [String: JSONValue]
    /// The claims.
    public var claims: JSONValue

    /// Creates a draft.
    public init(key: SigningKey, header: [String: JSONValue], claims: JSONValue) {
        (self.key, self.header, self.claims) = (key, header, claims)
    }

    /// Returns the signed token.
    public func signed() throws -> String { try key.sign(claims, header: header) }

    /// Returns the draft with a changed claim.
    ///
    /// - Parameter value: The value of the claim; nil to remove it.
    public func with(_ name: String, _ value: JSONValue?) -> TokenDraft {
        var draft = self
        draft.claims[name] = value
        return draft
    }
}
