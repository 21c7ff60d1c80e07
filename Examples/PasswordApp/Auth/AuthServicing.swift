package import AuthFoundation
package import Foundation

/// The authentication that the app needs.
///
/// Belongs to the main actor, as the views that show its state do.
@MainActor
package protocol AuthServicing: AnyObject {
    /// Whether a user is signed in.
    var isAuthenticated: Bool { get }

    /// The access token of who is signed in.
    var currentToken: String? { get }

    /// All tokens of who is signed in.
    var token: Token? { get }

    /// The time, by the server's clock as far as that is known.
    var now: Date { get }

    /// The state that the screens observe.
    var authenticationState: AuthService.AuthState { get }

    /// Signs in with a password.
    ///
    /// - Parameters:
    ///   - username: Who.
    ///   - password: Their password.
    /// - Throws: Why nobody is signed in; ``authenticationState`` is `error` then. That the server wants a second factor is such a reason.
    func authenticate(username: String, password: String) async throws

    /// Signs out and revokes the tokens. They are gone here also if the server can't be reached.
    ///
    /// - Throws: Errors of the storage, if the tokens could not be removed.
    func logout() async throws

    /// Gets new tokens.
    ///
    /// - Throws: `NSError` of the domain `AuthService` with the code -1 if nobody is signed in; why there are no new tokens. If the session is
    ///   over, nobody is signed in any more.
    func refreshAccessToken() async throws

    /// The profile of who is signed in, which is fetched once.
    ///
    /// - Returns: `nil` if no user is signed in.
    /// - Throws: Why it can't be fetched.
    func getCurrentUser() async throws -> UserInfo?
}
