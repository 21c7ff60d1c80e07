public import Foundation

extension Credential {
    /// ``refresh()`` with a completion.
    ///
    /// - Parameter completion: Is called once, on any thread.
    public func refresh(completion: @escaping @Sendable (Result<Void, OAuth2Error>) -> Void) {
        complete(completion) { try await self.refresh() }
    }

    /// ``refreshIfNeeded(graceInterval:)`` with a completion.
    ///
    /// - Parameters:
    ///   - graceInterval: For how many seconds the token must be good still.
    ///   - completion: Is called once, on any thread.
    public func refreshIfNeeded(
        graceInterval: TimeInterval = Credential.refreshGraceInterval, completion: @escaping @Sendable (Result<Void, OAuth2Error>) -> Void
    ) {
        complete(completion) { try await self.refreshIfNeeded(graceInterval: graceInterval) }
    }

    /// ``revoke(type:)`` with a completion.
    ///
    /// - Parameters:
    ///   - type: Which tokens.
    ///   - completion: Is called once, on any thread.
    public func revoke(type: Token.RevokeType = .all, completion: @escaping @Sendable (Result<Void, OAuth2Error>) -> Void) {
        complete(completion) { try await self.revoke(type: type) }
    }

    /// ``introspect(_:)`` with a completion.
    ///
    /// - Parameters:
    ///   - type: Which token.
    ///   - completion: Is called once, on any thread.
    public func introspect(_ type: Token.Kind, completion: @escaping @Sendable (Result<TokenInfo, OAuth2Error>) -> Void) {
        complete(completion) { try await self.introspect(type) }
    }

    /// `userInfo()` with a completion.
    ///
    /// - Parameter completion: Is called once, on any thread.
    public func userInfo(completion: @escaping @Sendable (Result<UserInfo, OAuth2Error>) -> Void) {
        complete(completion) { try await self.userInfo() }
    }

    private func complete<T: Sendable>(
        _ completion: @escaping @Sendable (Result<T, OAuth2Error>) -> Void, _ operation: @escaping @Sendable () async throws -> T
    ) {
        Task {
            do {
                completion(.success(try await operation()))
            } catch {
                completion(.failure(OAuth2Error(error)))
            }
        }
    }
}
