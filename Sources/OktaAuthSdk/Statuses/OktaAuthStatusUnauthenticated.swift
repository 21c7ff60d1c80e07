public import Foundation

/// No transaction yet: sign-ins and recoveries begin here.
///
/// ```swift
/// let start = OktaAuthStatusUnauthenticated(oktaDomain: organization, responseHandler: MyResponseHandler())
/// let status = try await start.authenticate(username: name, password: password)
/// ```
open class OktaAuthStatusUnauthenticated: OktaAuthStatus {
    /// Takes an organization.
    ///
    /// - Parameters:
    ///   - oktaDomain: The organization's URL: https, or http on this machine.
    ///   - responseHandler: Makes the statuses; each later one inherits it.
    public override init(oktaDomain: URL, responseHandler: OktaAuthStatusResponseHandler = OktaAuthStatusResponseHandler()) {
        super.init(oktaDomain: oktaDomain, responseHandler: responseHandler)
        statusType = .unauthenticated
    }

    /// Takes an organization that is reached through a transport of our own.
    package override init(api: OktaAPI, responseHandler: OktaAuthStatusResponseHandler = OktaAuthStatusResponseHandler()) {
        super.init(api: api, responseHandler: responseHandler)
        statusType = .unauthenticated
    }

    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - password: The password.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func authenticate(
        username: String, password: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.primaryAuthentication(username: username, password: password) { [self] result in
            receive(result, token: nil, onStatusChange, onError)
        }
    }

    /// Begins to unlock an account.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - factorType: How the person is reached.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func unlockAccount(
        username: String, factorType: OktaRecoveryFactors, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.unlockAccount(username: username, factor: factorType.toFactorType()) { [self] result in
            receive(result, token: nil, onStatusChange, onError)
        }
    }

    /// Begins to recover a forgotten password.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - factorType: How the person is reached.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func recoverPassword(
        username: String, factorType: OktaRecoveryFactors, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.recoverPassword(username: username, factor: factorType.toFactorType()) { [self] result in
            receive(result, token: nil, onStatusChange, onError)
        }
    }
}

extension OktaAuthStatusUnauthenticated {
    /// Takes up a transaction again.
    ///
    /// - Parameters:
    ///   - stateToken: The transaction's token.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func fetchStatus(
        _ stateToken: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.getTransactionState(stateToken: stateToken) { [self] result in
            receive(result, token: nil, onStatusChange, onError)
        }
    }

    /// Begins with an activation token, which a person gets whose account was made for them: who has no password yet sets one.
    ///
    /// - Parameters:
    ///   - activationToken: The token, good once.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func authenticate(
        activationToken: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.primaryAuthentication(username: nil, password: nil, token: activationToken) { [self] result in
            receive(result, token: nil, onStatusChange, onError)
        }
    }

    /// Begins the recovery of a token that came by e-mail.
    ///
    /// - Parameters:
    ///   - recoveryToken: The token, good once.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func verifyRecoveryToken(
        _ recoveryToken: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.verifyRecoveryToken(recoveryToken) { [self] result in
            receive(result, token: nil, onStatusChange, onError)
        }
    }

    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - password: The password.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func authenticate(username: String, password: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { authenticate(username: username, password: password, onStatusChange: $0, onError: $1) }
    }

    /// Begins to unlock an account.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - factorType: How the person is reached.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func unlockAccount(username: String, factorType: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await MainQueue.value { unlockAccount(username: username, factorType: factorType, onStatusChange: $0, onError: $1) }
    }

    /// Begins to recover a forgotten password.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - factorType: How the person is reached.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func recoverPassword(username: String, factorType: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await MainQueue.value { recoverPassword(username: username, factorType: factorType, onStatusChange: $0, onError: $1) }
    }

    /// Takes up a transaction again.
    ///
    /// - Parameter stateToken: The transaction's token.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func fetchStatus(_ stateToken: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { fetchStatus(stateToken, onStatusChange: $0, onError: $1) }
    }

    /// Begins with an activation token, which a person gets whose account was made for them: who has no password yet sets one.
    ///
    /// - Parameter activationToken: The token, good once.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func authenticate(activationToken: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { authenticate(activationToken: activationToken, onStatusChange: $0, onError: $1) }
    }

    /// Begins the recovery of a token that came by e-mail.
    ///
    /// - Parameter recoveryToken: The token, good once.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func verifyRecoveryToken(_ recoveryToken: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { verifyRecoveryToken(recoveryToken, onStatusChange: $0, onError: $1) }
    }
}
