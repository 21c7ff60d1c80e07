public import Foundation
public import OktaAuthSdk

/// The purpose of a token that continues a transaction.
public enum ClassicTokenKind: String, Sendable {
    /// A state token of a transaction that began elsewhere.
    case state
    /// A recovery token, for a forgotten password or a locked account.
    case recovery
    /// An activation token, for the first sign-in of a user without a password.
    case activation
}

/// A service that begins and ends transactions of the classic state machine. The statuses themselves perform the steps in between.
@MainActor
public protocol ClassicServicing: AnyObject {
    /// The name of the signed-in user; `nil` without a user.
    var signedInUser: String? { get }
    /// Begins a sign-in. Throws `OktaError`.
    func signIn(username: String, password: String) async throws -> OktaAuthStatus
    /// Begins the recovery of a password. Throws `OktaError`.
    func recoverPassword(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus
    /// Begins to unlock an account. Throws `OktaError`.
    func unlockAccount(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus
    /// Continues a transaction with a token. Throws `OktaError`.
    func goOn(with token: String, of kind: ClassicTokenKind) async throws -> OktaAuthStatus
    /// Returns the content of a QR code picture; `nil` if the picture is not the organization's, or if its content is not available as
    /// text.
    func text(ofPicture picture: URL) async -> String?
    /// Exchanges the session token for tokens and stores them. Returns `false` if the app has no client for the exchange. Throws if the
    /// exchange fails.
    func finish(sessionToken: String) async throws -> Bool
    /// Revokes and removes the tokens. Throws if the server is not reachable; the tokens are then still removed from this device.
    func signOut() async throws
}
