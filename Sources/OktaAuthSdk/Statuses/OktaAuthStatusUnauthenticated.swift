public import Foundation

/// The initial status, from which sign-ins and recoveries start.
///
/// ```swift
/// let start = OktaAuthStatusUnauthenticated(oktaDomain: organization, responseHandler: MyResponseHandler())
/// let status = try await start.authenticate(username: name, password: password)
/// ```
open class OktaAuthStatusUnauthenticated: OktaAuthStatus {
    /// Creates an instance for an organization.
    /// - Parameters:
    ///   - oktaDomain: The organization's URL: https, or http on a loopback host.
    ///   - responseHandler: The handler that creates the statuses. Later statuses inherit it.
    public override init(oktaDomain: URL, responseHandler: OktaAuthStatusResponseHandler = OktaAuthStatusResponseHandler()) {
        super.init(oktaDomain: oktaDomain, responseHandler: responseHandler)
        statusType = .unauthenticated
    }

    /// Creates an instance that sends its requests with an existing API object.
    package override init(api: OktaAPI, responseHandler: OktaAuthStatusResponseHandler = OktaAuthStatusResponseHandler()) {
        super.init(api: api, responseHandler: responseHandler)
        statusType = .unauthenticated
    }

    /// Starts a sign-in.
    open func authenticate(
        username: String, password: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.primaryAuthentication(username: username, password: password, completion: receiver(onStatusChange, onError))
    }

    /// Starts to unlock an account.
    open func unlockAccount(
        username: String, factorType: OktaRecoveryFactors, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.unlockAccount(username: username, factor: factorType.toFactorType(), completion: receiver(onStatusChange, onError))
    }

    /// Starts to recover a forgotten password.
    open func recoverPassword(
        username: String, factorType: OktaRecoveryFactors, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.recoverPassword(username: username, factor: factorType.toFactorType(), completion: receiver(onStatusChange, onError))
    }
}

extension OktaAuthStatusUnauthenticated {
    /// Resumes the transaction with this state token.
    public func fetchStatus(
        _ stateToken: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.getTransactionState(stateToken: stateToken, completion: receiver(onStatusChange, onError))
    }

    /// Starts a sign-in with an activation token. A user whose account an administrator created can then set a password.
    /// - Parameter activationToken: The token. It can be used once.
    public func authenticate(
        activationToken: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.primaryAuthentication(username: nil, password: nil, token: activationToken, completion: receiver(onStatusChange, onError))
    }

    /// Starts a recovery with a token from an email.
    /// - Parameter recoveryToken: The token. It can be used once.
    public func verifyRecoveryToken(
        _ recoveryToken: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        restApi.verifyRecoveryToken(recoveryToken, completion: receiver(onStatusChange, onError))
    }

    /// Starts a sign-in.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func authenticate(username: String, password: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { authenticate(username: username, password: password, onStatusChange: $0, onError: $1) }
    }

    /// Starts to unlock an account.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func unlockAccount(username: String, factorType: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await MainQueue.value { unlockAccount(username: username, factorType: factorType, onStatusChange: $0, onError: $1) }
    }

    /// Starts to recover a forgotten password.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func recoverPassword(username: String, factorType: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await MainQueue.value { recoverPassword(username: username, factorType: factorType, onStatusChange: $0, onError: $1) }
    }

    /// Resumes the transaction with this state token.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func fetchStatus(_ stateToken: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { fetchStatus(stateToken, onStatusChange: $0, onError: $1) }
    }

    /// Starts a sign-in with an activation token. A user whose account an administrator created can then set a password.
    /// - Parameter activationToken: The token. It can be used once.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func authenticate(activationToken: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { authenticate(activationToken: activationToken, onStatusChange: $0, onError: $1) }
    }

    /// Starts a recovery with a token from an email.
    /// - Parameter recoveryToken: The token. It can be used once.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func verifyRecoveryToken(_ recoveryToken: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { verifyRecoveryToken(recoveryToken, onStatusChange: $0, onError: $1) }
    }
}
