/// The account is locked. Unlocking it is a transaction of its own.
open class OktaAuthStatusLockedOut: OktaAuthStatus {
    /// Takes the place of another status after an answer.
    ///
    /// - Parameters:
    ///   - currentState: The status so far.
    ///   - model: The answer.
    /// - Throws: `OktaError.invalidResponse` if the answer lacks something that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        try super.init(currentState: currentState, model: model)
        statusType = .lockedOut
    }

    /// Whether the person can unlock it.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canUnlock() -> Bool { model.links?.next != nil }

    /// Begins to unlock the account.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - factorType: How the person is reached.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func unlock(
        username: String, factorType: OktaRecoveryFactors, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        guard canUnlock() else { return refuse(.missing("next"), onError) }
        restApi.unlockAccount(username: username, factor: factorType.toFactorType()) { [self] result in
            receive(result, token: nil, onStatusChange, onError)
        }
    }
}

extension OktaAuthStatusLockedOut {
    /// Begins to unlock the account.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - factorType: How the person is reached.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func unlock(username: String, factorType: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await MainQueue.value { unlock(username: username, factorType: factorType, onStatusChange: $0, onError: $1) }
    }
}
