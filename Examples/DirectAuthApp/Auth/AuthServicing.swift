package import AuthFoundation
package import Foundation

/// The authentication service that the app needs.
///
/// The service belongs to the main actor, like the views that show its state.
@MainActor
package protocol AuthServicing: AnyObject {
    /// The access token of the signed-in user; `nil` without a user.
    var accessToken: String? { get }

    /// The current time by the server's clock; by this device's clock if the server's is unknown.
    var now: Date { get }

    /// The state that the screens observe.
    var state: AuthService.State { get }

    /// Signs in with a password and, if the server requires it, a push. Returns after the user's approval, however long it takes.
    ///
    /// - Throws: The reason for the failure; ``state`` is then `failed`. `CancellationError` after ``cancelSignIn()``; ``state`` is then
    ///   `idle`.
    func signIn(username: String, password: String) async throws

    /// Cancels the current sign-in on this device and at the server. A later approval has no effect.
    func cancelSignIn()

    /// Signs out and revokes the tokens. The tokens are removed from this device even if the server is not reachable.
    ///
    /// - Throws: Errors of the storage if the tokens could not be removed; ``state`` is then still `authorized`.
    func signOut() async throws

    /// Refreshes the tokens.
    ///
    /// - Throws: The reason for the failure. If the session has ended, ``state`` is then `failed`, and no user is signed in.
    func refreshToken() async throws

    /// Refreshes the tokens if they have expired or expire soon. The service also refreshes them automatically before they expire.
    ///
    /// - Throws: The errors of ``refreshToken()``.
    func refreshTokenIfNeeded() async throws

    /// Returns the profile of the signed-in user, which is fetched once.
    ///
    /// - Returns: The profile; `nil` if no user is signed in.
    /// - Throws: The errors of the request.
    func userInfo() async throws -> UserInfo?

    /// Waits until the server has processed a cancelled sign-in. The app calls this function before it exits.
    func settled() async
}
