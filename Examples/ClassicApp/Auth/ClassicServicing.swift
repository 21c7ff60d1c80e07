public import Foundation
public import OktaAuthSdk

/// The purpose of a token that continues a transaction.
public enum ClassicTokenKind: String, Sendable {
    /// A transaction that began elsewhere.
    case state
    /// The recovery of a password, or an unlock.
    case recovery
    /// The first sign-in of a user without a password.
    case activation
}

/// Begins and ends transactions of the classic state machine. The statuses themselves perform the steps in between.
@MainActor
public protocol ClassicServicing: AnyObject {
    /// The name of the signed-in user; `nil` without one.
    var signedInUser: String? { get }
    /// Begins a sign-in. Throws `OktaError`.
    func signIn(username: String, password: String) async throws -> OktaAuthStatus
    /// Begins the recovery of a password. Throws `OktaError`.
    func recoverPassword(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus
    /// Begins to unlock an account. Throws `OktaError`.
    func unlockAccount(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus
    /// Continues a transaction with a token. Throws `OktaError`.
    func goOn(with token: String, of kind: ClassicTokenKind) async throws -> OktaAuthStatus
    /// Returns the content of a QR code picture; `nil` if it is not the organization's, or unavailable as text.
    func text(ofPicture picture: URL) async -> String?
    /// Exchanges the session token for tokens and stores them; returns `false` if the app has no client for that. Throws if the exchange fails.
    func finish(sessionToken: String) async throws -> Bool
    /// Revokes and removes the tokens. Throws if the server is not reachable; the tokens are removed from this device in any case.
    func signOut() async throws
}
