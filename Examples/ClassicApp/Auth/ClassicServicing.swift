public import OktaAuthSdk

/// Begins and ends what the classic state machine does; what is between is done by the statuses themselves.
@MainActor
public protocol ClassicServicing: AnyObject {
    /// The name of who is signed in with tokens; nil if nobody is.
    var signedInUser: String? { get }
    /// Begins a sign-in. Throws `OktaError`.
    func signIn(username: String, password: String) async throws -> OktaAuthStatus
    /// Begins the recovery of a password. Throws `OktaError`.
    func recoverPassword(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus
    /// Begins to unlock an account. Throws `OktaError`.
    func unlockAccount(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus
    /// Goes on with a transaction that was begun elsewhere. Throws `OktaError`.
    func restore(stateToken: String) async throws -> OktaAuthStatus
    /// Trades the session token of a sign-in for tokens, which are stored; false if the app has no client for that. Throws if it fails.
    func finish(sessionToken: String) async throws -> Bool
    /// Revokes and removes the tokens. Throws if the server could not be told; they are gone from this device all the same.
    func signOut() async throws
}
