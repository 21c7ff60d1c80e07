public import JOSE

/// A token that is about to be signed, so that tests can change one thing in it.
public struct TokenDraft: Sendable {
    /// What signs it.
    public var key: SigningKey
    /// The header, without what the key says.
    public var header: [String: JSONValue]
    /// The claims.
    public var claims: JSONValue

    /// Makes a draft.
    public init(key: SigningKey, header: [String: JSONValue], claims: JSONValue) {
        (self.key, self.header, self.claims) = (key, header, claims)
    }

    /// Signs it.
    ///
    /// - Returns: The token.
    /// - Throws: If the key can't sign.
    public func signed() throws -> String { try key.sign(claims, header: header) }

    /// The same with another claim.
    ///
    /// - Parameters:
    ///   - name: The claim.
    ///   - value: Its value; nil to leave it out.
    /// - Returns: The draft.
    public func with(_ name: String, _ value: JSONValue?) -> TokenDraft {
        var draft = self
        draft.claims[name] = value
        return draft
    }
}
