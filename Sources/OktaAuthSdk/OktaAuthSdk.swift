public import Foundation

/// The ways into the classic sign-in, a state machine: each answer of the server is a status, and its links are what can be done next
/// (authn reference).
///
/// Look at a status's ``OktaAuthStatus/statusType``, take it as its own class, and go on from there. Closures are called on the main queue,
/// once for each call. Each call has an `async` twin.
public class OktaAuthSdk {
    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - url: The organization's URL: https, or http on this machine.
    ///   - username: The name to sign in with.
    ///   - password: The password; nil for none.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public class func authenticate(
        with url: URL, username: String, password: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        OktaAuthStatusUnauthenticated(oktaDomain: url)
            .authenticate(username: username, password: password ?? "", onStatusChange: onStatusChange, onError: onError)
    }

    /// Begins to unlock an account.
    ///
    /// - Parameters:
    ///   - url: The organization's URL: https, or http on this machine.
    ///   - username: The name to sign in with.
    ///   - factorType: How the person is reached.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public class func unlockAccount(
        with url: URL, username: String, factorType: OktaRecoveryFactors, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        OktaAuthStatusUnauthenticated(oktaDomain: url)
            .unlockAccount(username: username, factorType: factorType, onStatusChange: onStatusChange, onError: onError)
    }

    /// Begins to recover a forgotten password.
    ///
    /// - Parameters:
    ///   - url: The organization's URL: https, or http on this machine.
    ///   - username: The name to sign in with.
    ///   - factorType: How the person is reached.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public class func recoverPassword(
        with url: URL, username: String, factorType: OktaRecoveryFactors, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        OktaAuthStatusUnauthenticated(oktaDomain: url)
            .recoverPassword(username: username, factorType: factorType, onStatusChange: onStatusChange, onError: onError)
    }

    /// Takes up a transaction again.
    ///
    /// - Parameters:
    ///   - stateToken: The transaction's token.
    ///   - url: The organization's URL: https, or http on this machine.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
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
    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - url: The organization's URL: https, or http on this machine.
    ///   - username: The name to sign in with.
    ///   - password: The password; nil for none.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public class func authenticate(with url: URL, username: String, password: String?) async throws -> OktaAuthStatus {
        try await MainQueue.value { authenticate(with: url, username: username, password: password, onStatusChange: $0, onError: $1) }
    }

    /// Begins to unlock an account.
    ///
    /// - Parameters:
    ///   - url: The organization's URL: https, or http on this machine.
    ///   - username: The name to sign in with.
    ///   - factorType: How the person is reached.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public class func unlockAccount(with url: URL, username: String, factorType: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await MainQueue.value { unlockAccount(with: url, username: username, factorType: factorType, onStatusChange: $0, onError: $1) }
    }

    /// Begins to recover a forgotten password.
    ///
    /// - Parameters:
    ///   - url: The organization's URL: https, or http on this machine.
    ///   - username: The name to sign in with.
    ///   - factorType: How the person is reached.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public class func recoverPassword(with url: URL, username: String, factorType: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await MainQueue.value {
            recoverPassword(with: url, username: username, factorType: factorType, onStatusChange: $0, onError: $1)
        }
    }

    /// Takes up a transaction again.
    ///
    /// - Parameters:
    ///   - stateToken: The transaction's token.
    ///   - url: The organization's URL: https, or http on this machine.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public class func fetchStatus(with stateToken: String, using url: URL) async throws -> OktaAuthStatus {
        try await MainQueue.value { fetchStatus(with: stateToken, using: url, onStatusChange: $0, onError: $1) }
    }
}
