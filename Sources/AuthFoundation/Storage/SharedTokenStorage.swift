/// What a storage offers beyond the published contract when other processes use it too.
@CredentialActor
package protocol SharedTokenStorage: AnyObject, TokenStorage {
    /// Is told of failures in places that can't throw.
    var onFailure: (@Sendable (any Error) -> Void)? { get set }

    /// Takes the right to refresh a token, if no other process has it.
    ///
    /// - Returns: nil if another process is refreshing it now.
    nonisolated func lockForRefresh(of id: String) throws -> (any RefreshLock)?
}

/// The right to refresh a token, given back by ``release()`` or when the process ends.
package protocol RefreshLock: Sendable {
    func release()
}
