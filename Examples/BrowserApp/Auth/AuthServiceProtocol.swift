public import BrowserSignin

/// Whether a user is signed in.
public enum SignInStatus: Sendable, Equatable {
    /// No user is signed in.
    case loggedOut
    /// Tokens are stored. That says nothing of whether the server still takes them; the next call does.
    case loggedIn
    /// Tokens are stored, and the server has said that their session has ended.
    case sessionEnded
}

/// The result of a sign-out.
public struct SignOutOutcome: Sendable, Equatable {
    /// Whether the person is signed out here. Not if they closed the browser: then nothing was done.
    public var isSignedOut: Bool
    /// The failure at the server as text; `nil` on success.
    public var failure: String?

    /// Describes a sign-out.
    ///
    /// - Parameters:
    ///   - isSignedOut: Whether the person is signed out here.
    ///   - failure: What could not be done at the server.
    public init(isSignedOut: Bool, failure: String? = nil) {
        self.isSignedOut = isSignedOut
        self.failure = failure
    }
}

/// Signs a person in and out with a browser, and calls an API for them.
@MainActor
public protocol AuthServiceProtocol: AnyObject {
    /// Whether a user is signed in.
    var status: SignInStatus { get }
    /// The id token as it was sent; nil without one.
    var idToken: String? { get }

    /// Tells whenever what is stored has changed, whoever changed it: the tokens are refreshed by themselves, too. Each call makes a
    /// sequence of its own.
    func changes() -> AsyncStream<Void>
    /// The content of the ID token; `nil` without one.
    func tokenInfo() -> TokenInfo?
    /// The user's profile; `nil` if no user is signed in. Throws the errors of the request.
    func userInfo() async throws -> UserInfo?
    /// Signs in with the browser; returns false if the person closed it. Throws if it failed.
    func signIn() async throws -> Bool
    /// Ends the session at the server, and the tokens there and here. Throws if there is no way to sign out.
    func signOut() async throws -> SignOutOutcome
    /// Gives up the sign-in or sign-out in the browser, if one is under way.
    func cancel() async
    /// Gets new tokens now.
    func refreshToken() async throws
    /// Gets new tokens if the present ones end soon.
    func refreshTokenIfNeeded() async throws
    /// Gets a message of the resource server. Throws ``AuthError`` if it refuses.
    func fetchMessageFromBackend() async throws -> String
}
