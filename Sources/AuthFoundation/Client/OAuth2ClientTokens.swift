import Foundation

extension OAuth2Client {
    /// Sends a token request and validates the issued tokens. Fetches the issuer's keys at the same time.
    /// - Throws: ``APIClientError`` if the server rejects the request or is unreachable; ``JWTError`` or ``ClockSkewError`` if the ID token
    ///   is invalid; ``DPoPError`` if tokens must be bound to a key and are not; `CancellationError` if the task is cancelled. Tokens that
    ///   fail validation are revoked.
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

    /// Revokes tokens that no caller receives. Runs in a new task, so that the cancellation of the caller does not stop the revocation.
    package func discard(_ token: Token, _ type: Token.RevokeType = .all) {
        Task {
            // Best effort: no caller can handle an error, and unused tokens expire.
            try? await revoke(token, type: type)
        }
    }

    /// Refreshes a token with its refresh token. Concurrent calls for one token share one request. The refresh continues if the calling
    /// task is cancelled, because the server may have invalidated the old refresh token already.
    /// - Parameter scope: A subset of the token's scopes, or `nil` for all of them.
    /// - Returns: The new token with the same `id`. Values that the response omits are copied from the old token.
    /// - Throws: ``OAuth2Error/missingToken(type:)`` if there is no refresh token; ``DPoPError`` with ``DPoPError/Code/keyLost`` if the
    ///   bound key is missing; otherwise the errors of ``exchange(token:)``. If the new tokens are invalid, only the access token is
    ///   revoked. Revoking the refresh token would end a session in which the old refresh token may still be usable.
    public func refresh(_ token: Token, scope: [String]? = nil) async throws -> Token {
        try await refresh(token, scope: scope, onCondition: {})
    }

    /// Refreshes a token. See ``refresh(_:scope:)``.
    /// - Parameter condition: Renews the right to use the refresh token. Called directly before each attempt to send the request, and after
    ///   the response. If it throws before an attempt, the request is not sent.
    func refresh(_ token: Token, scope: [String]? = nil, onCondition condition: @escaping @Sendable () throws -> Void) async throws -> Token
    {
        guard let refreshToken = token.refreshToken else { throw OAuth2Error.missingToken(type: .refreshToken) }
        let key = RefreshKey(id: token.id, refreshToken: refreshToken, scope: scope)
        return try await refreshes.value(for: key) { [self] in
            TokenRefreshes.begin(token.id)
            defer { TokenRefreshes.end(token.id) }
            delegateCollection.invoke { $0.oauth(client: self, willRefresh: token) }
            do {
                let newToken = try await requestRefresh(of: token, refreshToken: refreshToken, scope: scope, condition)
                // Call the delegates first: one of them stores the token, and no caller may see it before it is stored.
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

    /// Fetches the discovery document and the keys for a refresh. A refresh calls this before its request, because a network failure after
    /// the response would lose the new tokens.
    @discardableResult
    func prepareRefresh(of token: Token) async throws -> OpenIdConfiguration {
        let provider = try await openIdConfiguration()
        if token.idToken != nil { _ = try await jwks() }
        return provider
    }

    private func requestRefresh(
        of token: Token, refreshToken: String, scope: [String]?, _ condition: @escaping @Sendable () throws -> Void
    ) async throws -> Token {
        let request = RefreshRequest(
            openIdConfiguration: try await prepareRefresh(of: token), clientConfiguration: configuration, refreshToken: refreshToken,
            scope: scope, dpopThumbprint: token.context.dpopThumbprint, condition: condition)
        let answer = try await request.send(to: self).result
        // No other process should use the old refresh token while the validation fetches new keys, which it tries once. A failure must not
        // lose the response.
        try? condition()
        do {
            try checkBinding(of: answer)
            let newToken = try token.replaced(by: answer)
            do {
                try await validate(newToken, refreshedFrom: token)
            } catch is APIClientError {
                // The issuer uses a new key that cannot be fetched now. Keep the old ID token and use the other new tokens.
                return try newToken.keepingIDToken(of: token)
            }
            return newToken
        } catch {
            discard(answer, .accessToken)
            throw error
        }
    }

    /// Revokes tokens (RFC 7009). With `.all`, revokes all existing tokens concurrently; one failure does not stop the other revocations.
    /// - Throws: ``OAuth2Error/missingToken(type:)`` if there is no token of this kind;
    ///   ``OAuth2Error/missingOpenIdConfiguration(attribute:)`` if the issuer does not support revocation; ``APIClientError`` for the first
    ///   failure; and the errors of ``openIdConfiguration()``.
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

    /// Requests information about a token from the issuer (RFC 7662).
    /// - Parameters:
    ///   - token: The tokens of a sign-in.
    ///   - type: The kind of the token to look up.
    /// - Returns: The response. Its `active` is false if the token is no longer valid.
    /// - Throws: ``OAuth2Error/missingToken(type:)`` if there is no token of this kind;
    ///   ``OAuth2Error/missingOpenIdConfiguration(attribute:)`` if the issuer does not support introspection; ``APIClientError`` if the
    ///   request fails; and the errors of ``openIdConfiguration()``.
    public func introspect(token: Token, type: Token.Kind) async throws -> TokenInfo {
        guard let value = token.token(of: type) else { throw OAuth2Error.missingToken(type: type) }
        let provider = try await openIdConfiguration()
        let request = IntrospectRequest(
            openIdConfiguration: provider, clientConfiguration: configuration, url: try endpoint(.introspectionEndpoint, of: provider),
            token: value, kind: type)
        return try await request.send(to: self).result
    }

    /// Fetches the user's profile.
    /// - Parameter token: The token that authorizes the request.
    /// - Throws: ``OAuth2Error/missingOpenIdConfiguration(attribute:)`` if the issuer has no user-info endpoint; ``APIClientError`` if the
    ///   request fails; ``JWTError/invalidSubject`` if profile and ID token belong to different users (OpenID Connect Core 1.0 §5.3.2); and
    ///   the errors of ``openIdConfiguration()``.
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
