import Foundation

extension OAuth2Client {
    /// Sends a request for tokens and validates what it brings. The issuer's keys are fetched meanwhile.
    ///
    /// - Parameter request: The request.
    /// - Returns: The answer with the tokens.
    /// - Throws: ``APIClientError`` if the server refuses or is not reached; ``JWTError`` or ``ClockSkewError`` if the ID token is not
    ///   acceptable; ``DPoPError`` if tokens are to be bound to a key and are not; `CancellationError` if the task is cancelled. Tokens that came
    ///   all the same are revoked.
    public func exchange<T: OAuth2TokenRequest>(token request: T) async throws -> APIResponse<Token> {
        async let keys: JWKS? = try? jwks()
        let response = try await request.send(to: self)
        _ = await keys
        do {
            try checkBinding(of: response.result)
            try await validate(response.result, context: request.tokenValidatorContext)
        } catch {
            discard(response.result)
            throw error
        }
        return response
    }

    /// Revokes tokens that nobody gets, in a task of its own: the caller has left, or is cancelled.
    package func discard(_ token: Token, _ type: Token.RevokeType = .all) {
        Task {
            // Best effort: nobody is there to be told, and tokens that nobody has end by themselves.
            try? await revoke(token, type: type)
        }
    }

    /// Trades a token's refresh token for a new token. Concurrent calls for one token share one request.
    ///
    /// The work goes on when the calling task is cancelled, because the server may have retired the old refresh token already.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - scope: A part of its scopes; nil for all of them.
    /// - Returns: The new token with the same `id`, and with what the answer left out of the old one.
    /// - Throws: ``OAuth2Error/missingToken(type:)`` without a refresh token; ``DPoPError`` with ``DPoPError/Code/keyLost`` without the key
    ///   that it is bound to; else what ``exchange(token:)`` throws. Of an answer that is not acceptable the access token is revoked; its
    ///   refresh token is not, with which the server would end the session that the old one may still go on with.
    public func refresh(_ token: Token, scope: [String]? = nil) async throws -> Token {
        guard let refreshToken = token.refreshToken else { throw OAuth2Error.missingToken(type: .refreshToken) }
        let key = RefreshKey(id: token.id, refreshToken: refreshToken, scope: scope)
        return try await refreshes.value(for: key) { [self] in
            TokenRefreshes.begin(token.id)
            defer { TokenRefreshes.end(token.id) }
            delegateCollection.invoke { $0.oauth(client: self, willRefresh: token) }
            do {
                let newToken = try await requestRefresh(of: token, refreshToken: refreshToken, scope: scope)
                // The delegates first: one of them stores the token, and nobody sees it before it is stored.
                delegateCollection.invoke { $0.oauth(client: self, didRefresh: token, replacedWith: newToken) }
                NotificationCenter.default.post(name: .tokenRefreshed, object: newToken)
                return newToken
            } catch {
                NotificationCenter.default.post(name: .tokenRefreshFailed, object: token, userInfo: ["error": error])
                delegateCollection.invoke { $0.oauth(client: self, didRefresh: token, replacedWith: nil) }
                throw error
            }
        }
    }

    private func requestRefresh(of token: Token, refreshToken: String, scope: [String]?) async throws -> Token {
        let request = RefreshRequest(
            openIdConfiguration: try await openIdConfiguration(), clientConfiguration: configuration, refreshToken: refreshToken,
            scope: scope, dpopThumbprint: token.context.dpopThumbprint)
        // Before the request, not after it: once the server has answered, nothing but a bad token may lose the answer.
        if token.idToken != nil { _ = try await jwks() }
        let answer = try await request.send(to: self).result
        do {
            try checkBinding(of: answer)
            let newToken = try token.replaced(by: answer)
            do {
                try await validate(newToken, refreshedFrom: token)
            } catch is APIClientError {
                // The issuer has a new key, which can't be had now. What can't be checked is not taken, and the rest is not lost for it.
                return try newToken.keepingIDToken(of: token)
            }
            return newToken
        } catch {
            discard(answer, .accessToken)
            throw error
        }
    }

    /// Revokes tokens (RFC 7009). With `.all`, those that exist, at the same time; each request is sent whatever becomes of the others.
    ///
    /// - Parameters:
    ///   - token: The tokens.
    ///   - type: Which of them.
    /// - Throws: ``OAuth2Error/missingToken(type:)`` if there is no such token,
    ///   ``OAuth2Error/missingOpenIdConfiguration(attribute:)`` if the issuer can't revoke, ``APIClientError`` for the first failure.
    public func revoke(_ token: Token, type: Token.RevokeType = .all) async throws {
        let kinds: [Token.Kind]
        switch type {
        case .accessToken: kinds = [.accessToken]
        case .refreshToken: kinds = [.refreshToken]
        case .deviceSecret: kinds = [.deviceSecret]
        case .all: kinds = [.accessToken, .refreshToken, .deviceSecret].filter { token.token(of: $0) != nil }
        }
        let requests = try await revocations(of: kinds, of: token)
        let failures = await withTaskGroup(of: (Int, (any Error)?).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask { [self] in
                    do {
                        _ = try await request.send(to: self)
                        return (index, nil)
                    } catch {
                        return (index, error)
                    }
                }
            }
            var failures: [Int: any Error] = [:]
            for await (index, error) in group { failures[index] = error }
            return failures
        }
        if let first = failures.min(by: { $0.key < $1.key }) { throw first.value }
    }

    private func revocations(of kinds: [Token.Kind], of token: Token) async throws -> [RevokeRequest] {
        let values = try kinds.map { kind in
            guard let value = token.token(of: kind) else { throw OAuth2Error.missingToken(type: kind) }
            return (kind, value)
        }
        let provider = try await openIdConfiguration()
        let url = try endpoint(.revocationEndpoint, of: provider)
        return values.map { kind, value in
            RevokeRequest(openIdConfiguration: provider, clientConfiguration: configuration, url: url, token: value, kind: kind)
        }
    }

    /// Asks the issuer about a token (RFC 7662).
    ///
    /// - Parameters:
    ///   - token: The tokens.
    ///   - type: Which of them.
    /// - Returns: What the issuer says; `active` is false for a token that is no longer good.
    /// - Throws: ``OAuth2Error/missingToken(type:)`` if there is no such token,
    ///   ``OAuth2Error/missingOpenIdConfiguration(attribute:)`` if the issuer does not offer it, ``APIClientError`` if the request fails.
    public func introspect(token: Token, type: Token.Kind) async throws -> TokenInfo {
        guard let value = token.token(of: type) else { throw OAuth2Error.missingToken(type: type) }
        let provider = try await openIdConfiguration()
        let request = IntrospectRequest(
            openIdConfiguration: provider, clientConfiguration: configuration, url: try endpoint(.introspectionEndpoint, of: provider),
            token: value, kind: type)
        return try await request.send(to: self).result
    }

    /// Reads the person's profile.
    ///
    /// - Parameter token: The token to read it with.
    /// - Returns: The profile.
    /// - Throws: ``OAuth2Error/missingOpenIdConfiguration(attribute:)`` if the issuer does not offer it, ``APIClientError`` if the request
    ///   fails, ``JWTError/invalidSubject`` if the profile is another person's than the ID token's (OpenID Connect Core 1.0, 5.3.2).
    public func userInfo(token: Token) async throws -> UserInfo {
        let provider = try await openIdConfiguration()
        let request = UserInfoRequest(openIdConfiguration: provider, url: try endpoint(.userinfoEndpoint, of: provider), token: token)
        let profile = try await request.send(to: self).result
        if let expected = token.idToken?.subject, profile.subject != expected { throw JWTError.invalidSubject }
        return profile
    }

    private func endpoint(_ name: OpenIdConfiguration.ProviderMetadata, of provider: OpenIdConfiguration) throws -> URL {
        guard let url: URL = provider[name] else { throw OAuth2Error.missingOpenIdConfiguration(attribute: name.rawValue) }
        guard LoopbackRule.isAcceptable(url) else { throw InsecureURLError(url: url) }
        return url
    }
}
