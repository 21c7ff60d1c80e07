package import AuthFoundation
package import Foundation

/// The authentication that the app needs.
///
/// Belongs to the main actor, as the views that show its state do.
@MainActor
package protocol AuthServicing: AnyObject {
    /// The access token of who is signed in.
    var accessToken: String? { get }

    /// The time, by the server's clock as far as that is known.
    var now: Date { get }

    /// The state that the screens observe.
    var state: AuthService.State { get }

    /// Signs in with a password and, if the server asks for it, a push. Returns when that is done, however long a person takes to approve.
    ///
    /// - Parameters:
    ///   - username: Who.
    ///   - password: Their password.
    /// - Throws: Why nobody is signed in; ``state`` is `failed` then. `CancellationError` after ``cancelSignIn()``; ``state`` is `idle` then.
    func signIn(username: String, password: String) async throws

    /// Gives the sign-in under way up, here and at the server: what is approved later signs nobody in.
    func cancelSignIn()

    /// Signs out and revokes the tokens. They are gone here also if the server can't be reached.
    ///
    /// - Throws: Errors of the storage, if the tokens could not be removed: then ``state`` is still `authorized`.
    func signOut() async throws

    /// Gets new tokens now.
    ///
    /// - Throws: Why there are none. If the session has ended, ``state`` is `failed` then, and nobody is signed in.
    func refreshToken() async throws

    /// Gets new tokens if the present ones have ended or will soon. They are renewed by themselves as well, before they end.
    ///
    /// - Throws: As ``refreshToken()`` does.
    func refreshTokenIfNeeded() async throws

    /// The profile of who is signed in, which is fetched once.
    ///
    /// - Returns: `nil` if no user is signed in.
    /// - Throws: Why it can't be fetched.
    func userInfo() async throws -> UserInfo?

    /// Waits until the server knows of a sign-in that was given up; for an app that is about to end.
    func settled() async
}
