public import Foundation

/// The entry points of the classic authentication API, a state machine: each response is a status, and its links are the possible next
/// steps (Documentation/Protocol/Authn.md).
/// Check a status's ``OktaAuthStatus/statusType``, cast the status to its class and continue with its functions. Closures are called on the
/// main queue, once for each call. Each function also has an `async` variant.
public class OktaAuthSdk {
    /// Starts a sign-in.
    /// - Parameters:
    ///   - url: The organization's URL: https, or http on a loopback host.
    ///   - password: The password; `nil` for none.
    public class func authenticate(
        with url: URL, username: String, password: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        OktaAuthStatusUnauthenticated(oktaDomain: url)
            .authenticate(username: username, password: password ?? "", onStatusChange: onStatusChange, onError: onError)
    }

    /// Starts to unlock an account.
    /// - Parameter url: The organization's URL: https, or http on a loopback host.
    public class func unlockAccount(
        with url: URL, username: String, factorType: OktaRecoveryFactors, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        OktaAuthStatusUnauthenticated(oktaDomain: url)
            .unlockAccount(username: username, factorType: factorType, onStatusChange: onStatusChange, onError: onError)
    }

    /// Starts to recover a forgotten password.
    /// - Parameter url: The organization's URL: https, or http on a loopback host.
    public class func recoverPassword(
        with url: URL, username: String, factorType: OktaRecoveryFactors, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        OktaAuthStatusUnauthenticated(oktaDomain: url)
            .recoverPassword(username: username, factorType: factorType, onStatusChange: onStatusChange, onError: onError)
    }

    /// Resumes the transaction with this state token.
    /// - Parameter url: The organization's URL: https, or http on a loopback host.
    public class func fetchStatus(
        with stateToken: String, using url: URL, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        OktaAuthStatusUnauthenticated(oktaDomain: url).fetchStatus(stateToken, onStatusChange: onStatusChange, onError: onError)
    }
}

@available(*, unavailable)
extension OktaAuthSdk: Sendable {}

extension OktaAuthSdk {
    /// Starts a sign-in.
    /// - Parameters:
    ///   - url: The organization's URL: https, or http on a loopback host.
    ///   - password: The password; `nil` for none.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public class func authenticate(with url: URL, username: String, password: String?) async throws -> OktaAuthStatus {
        try await MainQueue.value { authenticate(with: url, username: username, password: password, onStatusChange: $0, onError: $1) }
    }

    /// Starts to unlock an account.
    /// - Parameter url: The organization's URL: https, or http on a loopback host.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public class func unlockAccount(with url: URL, username: String, factorType: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await MainQueue.value { unlockAccount(with: url, username: username, factorType: factorType, onStatusChange: $0, onError: $1) }
    }

    /// Starts to recover a forgotten password.
    /// - Parameter url: The organization's URL: https, or http on a loopback host.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public class func recoverPassword(with url: URL, username: String, factorType: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await MainQueue.value {
            recoverPassword(with: url, username: username, factorType: factorType, onStatusChange: $0, onError: $1)
        }
    }

    /// Resumes the transaction with this state token.
    /// - Parameter url: The organization's URL: https, or http on a loopback host.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public class func fetchStatus(with stateToken: String, using url: URL) async throws -> OktaAuthStatus {
        try await MainQueue.value { fetchStatus(with: stateToken, using: url, onStatusChange: $0, onError: $1) }
    }
}
