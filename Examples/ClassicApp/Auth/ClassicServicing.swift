public import Foundation
public import OktaAuthSdk

/// The purpose of a token that continues a transaction.
public enum ClassicTokenKind: String, Sendable {
    /// A transaction that was begun elsewhere.
    case state
    /// The recovery of a password, or the opening of an account.
    case recovery
    /// The first sign-in of a user without a password.
    case activation
}

/// Begins and ends what the classic state machine does; what is between is done by the statuses themselves.
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
    /// Goes on with what a token is for. Throws `OktaError`.
    func goOn(with token: String, of kind: ClassicTokenKind) async throws -> OktaAuthStatus
    /// Returns the content of a QR code picture; `nil` if it is not the organization's, or unavailable as text.
    func text(ofPicture picture: URL) async -> String?
    /// Trades the session token of a sign-in for tokens, which are stored; false if the app has no client for that. Throws if it fails.
    func finish(sessionToken: String) async throws -> Bool
    /// Revokes and removes the tokens. Throws if the server could not be told; they are gone from this device all the same.
    func signOut() async throws
}
