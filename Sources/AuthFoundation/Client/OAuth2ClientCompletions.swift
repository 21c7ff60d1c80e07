extension OAuth2Client {
    /// Returns the issuer's discovery document. It is fetched once.
    /// - Parameter completion: Called once, on an unspecified thread.
    public func openIdConfiguration(completion: @escaping @Sendable (Result<OpenIdConfiguration, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.openIdConfiguration() }
    }

    /// Returns the issuer's keys. They are fetched once.
    /// - Parameter completion: Called once, on an unspecified thread.
    public func jwks(completion: @escaping @Sendable (Result<JWKS, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.jwks() }
    }

    /// Refreshes a token with its refresh token.
    /// - Parameters:
    ///   - token: The token to refresh.
    ///   - completion: Called once, on an unspecified thread.
    public func refresh(_ token: Token, completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.refresh(token) }
    }

    /// Revokes tokens.
    /// - Parameters:
    ///   - token: The tokens of a sign-in.
    ///   - type: The kind of token to revoke, or all of them.
    ///   - completion: Called once, on an unspecified thread.
    public func revoke(_ token: Token, type: Token.RevokeType, completion: @escaping @Sendable (Result<Void, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.revoke(token, type: type) }
    }

    /// Requests information about a token from the issuer.
    /// - Parameters:
    ///   - token: The tokens of a sign-in.
    ///   - type: The kind of the token to look up.
    ///   - completion: Called once, on an unspecified thread.
    public func introspect(token: Token, type: Token.Kind, completion: @escaping @Sendable (Result<TokenInfo, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.introspect(token: token, type: type) }
    }

    /// Fetches the user's profile.
    /// - Parameters:
    ///   - token: The token that authorizes the request.
    ///   - completion: Called once, on an unspecified thread.
    public func userInfo(token: Token, completion: @escaping @Sendable (Result<UserInfo, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.userInfo(token: token) }
    }
}
