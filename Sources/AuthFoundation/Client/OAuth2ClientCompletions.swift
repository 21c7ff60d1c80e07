extension OAuth2Client {
    /// The issuer's discovery document, fetched once.
    ///
    /// - Parameter completion: Is called once, on no particular thread.
    public func openIdConfiguration(completion: @escaping @Sendable (Result<OpenIdConfiguration, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.openIdConfiguration() }
    }

    /// The issuer's keys, fetched once.
    ///
    /// - Parameter completion: Is called once, on no particular thread.
    public func jwks(completion: @escaping @Sendable (Result<JWKS, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.jwks() }
    }

    /// Trades a token's refresh token for a new token.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - completion: Is called once, on no particular thread.
    public func refresh(_ token: Token, completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.refresh(token) }
    }

    /// Revokes tokens.
    ///
    /// - Parameters:
    ///   - token: The tokens.
    ///   - type: Which of them.
    ///   - completion: Is called once, on no particular thread.
    public func revoke(_ token: Token, type: Token.RevokeType, completion: @escaping @Sendable (Result<Void, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.revoke(token, type: type) }
    }

    /// Asks the issuer about a token.
    ///
    /// - Parameters:
    ///   - token: The tokens.
    ///   - type: Which of them.
    ///   - completion: Is called once, on no particular thread.
    public func introspect(token: Token, type: Token.Kind, completion: @escaping @Sendable (Result<TokenInfo, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.introspect(token: token, type: type) }
    }

    /// Reads the person's profile.
    ///
    /// - Parameters:
    ///   - token: The token to read it with.
    ///   - completion: Is called once, on no particular thread.
    public func userInfo(token: Token, completion: @escaping @Sendable (Result<UserInfo, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.userInfo(token: token) }
    }
}
