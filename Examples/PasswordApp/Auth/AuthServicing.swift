package import AuthFoundation
package import Foundation

/// The authentication service that the app needs.
///
/// The service belongs to the main actor, like the views that show its state.
@MainActor
package protocol AuthServicing: AnyObject {
    /// Whether a user is signed in.
    var isAuthenticated: Bool { get }

    /// The access token of the signed-in user; `nil` without a user.
    var currentToken: String? { get }

    /// All tokens of the signed-in user; `nil` without a user.
    var token: Token? { get }

    /// The current time by the server's clock; by this device's clock if the server's is unknown.
    var now: Date { get }

    /// The state that the screens observe.
    var authenticationState: AuthService.AuthState { get }

    /// Signs in with a password.
    ///
    /// - Throws: The reason for the failure, including a required second factor; ``authenticationState`` is then `error`.
    func authenticate(username: String, password: String) async throws

    /// Signs out and revokes the tokens. The tokens are removed from this device even if the server is not reachable.
    ///
    /// - Throws: Errors of the storage if the tokens could not be removed.
    func logout() async throws

    /// Refreshes the tokens.
    ///
    /// - Throws: `NSError` of the domain `AuthService` with the code -1 if no user is signed in; otherwise the reason for the failure. If
    ///   the session has ended, no user is signed in afterwards.
    func refreshAccessToken() async throws

    /// Returns the profile of the signed-in user, which is fetched once.
    ///
    /// - Returns: The profile; `nil` if no user is signed in.
    /// - Throws: The errors of the request.
    func getCurrentUser() async throws -> UserInfo?
}
