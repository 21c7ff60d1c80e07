/// The status of a sign-in whose account is locked. Unlocking the account is a separate transaction.
open class OktaAuthStatusLockedOut: OktaAuthStatus {
    /// Creates the status of a response.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        try super.init(currentState: currentState, model: model)
        statusType = .lockedOut
    }

    /// Whether the user can unlock the account.
    open func canUnlock() -> Bool { model.links?.next != nil }

    /// Starts to unlock the account.
    open func unlock(
        username: String, factorType: OktaRecoveryFactors, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        guard canUnlock() else { return refuse(.missing("next"), onError) }
        restApi.unlockAccount(username: username, factor: factorType.toFactorType(), completion: receiver(onStatusChange, onError))
    }
}

extension OktaAuthStatusLockedOut {
    /// Starts to unlock the account.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func unlock(username: String, factorType: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await MainQueue.value { unlock(username: username, factorType: factorType, onStatusChange: $0, onError: $1) }
    }
}
