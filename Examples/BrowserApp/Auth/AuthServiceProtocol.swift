public import BrowserSignin

/// Whether a user is signed in.
public enum SignInStatus: Sendable, Equatable {
    /// No user is signed in.
    case loggedOut
    /// Tokens are stored. The server may have revoked them; the next request then fails.
    case loggedIn
    /// Tokens are stored, and the server has reported that their session has ended.
    case sessionEnded
}

/// The result of a sign-out.
public struct SignOutOutcome: Sendable, Equatable {
    /// Whether the user is signed out on this device; `false` if the user closed the browser, so that nothing has changed.
    public var isSignedOut: Bool
    /// The failure at the server as text; `nil` on success.
    public var failure: String?

    /// Creates the result of a sign-out.
    ///
    /// - Parameters:
    ///   - isSignedOut: Whether the user is signed out on this device.
    ///   - failure: The failure at the server as text; `nil` on success.
    public init(isSignedOut: Bool, failure: String? = nil) {
        self.isSignedOut = isSignedOut
        self.failure = failure
    }
}

/// A service that signs a user in and out with a browser, and calls an API for the user.
@MainActor
public protocol AuthServiceProtocol: AnyObject {
    /// Whether a user is signed in.
    var status: SignInStatus { get }
    /// The ID token in its compact form; `nil` without an ID token.
    var idToken: String? { get }

    /// Returns a sequence of the changes of the stored tokens, including automatic refreshes. Each call returns a new sequence.
    func changes() -> AsyncStream<Void>
    /// Returns the content of the ID token; `nil` without an ID token.
    func tokenInfo() -> TokenInfo?
    /// Returns the user's profile; `nil` if no user is signed in. Throws the errors of the request.
    func userInfo() async throws -> UserInfo?
    /// Signs in with the browser; returns `false` if the user closed the browser. Throws the errors of the sign-in.
    func signIn() async throws -> Bool
    /// Ends the session at the server, revokes the tokens and removes them from this device. Throws if the app cannot sign out.
    func signOut() async throws -> SignOutOutcome
    /// Cancels the sign-in or sign-out in the browser, if one is in progress.
    func cancel() async
    /// Refreshes the tokens.
    func refreshToken() async throws
    /// Refreshes the tokens if they expire soon.
    func refreshTokenIfNeeded() async throws
    /// Fetches a message from the resource server. Throws ``AuthError`` if the server refuses.
    func fetchMessageFromBackend() async throws -> String
    /// Fetches a private message, which needs a recent sign-in with two factors. If necessary, calls `beforeSignIn` and signs in again with
    /// the browser; returns `nil` if the user closed the browser. Throws ``AuthError`` if the server refuses, and the errors of the sign-in.
    func fetchPrivateMessage(beforeSignIn: () -> Void) async throws -> String?
}
