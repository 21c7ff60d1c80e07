public import Foundation

extension Credential {
    /// Calls ``refresh()`` with a completion handler.
    /// - Parameter completion: Called once, on any thread.
    public func refresh(completion: @escaping @Sendable (Result<Void, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.refresh() }
    }

    /// Calls ``refreshIfNeeded(graceInterval:)`` with a completion handler.
    /// - Parameters:
    ///   - graceInterval: The minimum remaining lifetime in seconds.
    ///   - completion: Called once, on any thread.
    public func refreshIfNeeded(
        graceInterval: TimeInterval = Credential.refreshGraceInterval, completion: @escaping @Sendable (Result<Void, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.refreshIfNeeded(graceInterval: graceInterval) }
    }

    /// Calls ``revoke(type:)`` with a completion handler.
    /// - Parameters:
    ///   - type: The kind of token to revoke, or all of them.
    ///   - completion: Called once, on any thread.
    public func revoke(type: Token.RevokeType = .all, completion: @escaping @Sendable (Result<Void, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.revoke(type: type) }
    }

    /// Calls ``introspect(_:)`` with a completion handler.
    /// - Parameters:
    ///   - type: The kind of the token to look up.
    ///   - completion: Called once, on any thread.
    public func introspect(_ type: Token.Kind, completion: @escaping @Sendable (Result<TokenInfo, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.introspect(type) }
    }

    /// Calls `userInfo()` with a completion handler.
    /// - Parameter completion: Called once, on any thread.
    public func userInfo(completion: @escaping @Sendable (Result<UserInfo, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.userInfo() }
    }
}
