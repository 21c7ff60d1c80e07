package import AppSession
package import AuthFoundation
internal import CountersignUI
package import Foundation
internal import Observation
internal import Wording

/// The service that signs users in with a password, keeps their session and ends it.
@MainActor
@Observable
package final class AuthService: AuthServicing {
    /// The state of the sign-in.
    package enum AuthState: Equatable {
        /// No user is signed in.
        case notAuthenticated
        /// A request to the server is in progress.
        case authenticating
        /// A user is signed in.
        case authenticated
        /// The last sign-in failed, or the session has ended.
        case error(String)
    }

    private let session: PasswordSession

    /// Creates a service that restores the session of the previous run, so that the user stays signed in.
    ///
    /// - Parameters:
    ///   - settings: The client's settings; by default the settings of `Okta.plist`. The first sign-in reports invalid settings.
    ///   - language: The language of the messages; `nil` for the user's language.
    package convenience init(settings: ClientSettings = ClientSettings(), language: String? = nil) {
        self.init(client: Result { try settings.client() }, language: language)
    }

    /// Creates a service with a client, or with the error of its settings.
    package init(client: Result<OAuth2Client, any Error>, refreshesAutomatically: Bool = true, language: String? = nil) {
        var texts = language.map(SignInTexts.init(languageCode:)) ?? SignInTexts()
        texts.problems.unsupportedStep = Wording(bundle: .module, language: language)(
            "This account requires a second factor, which this app does not support. Use another app.")
        // `DirectAuthApp` supports a push here, and waits for the approval.
        session = PasswordSession(client: client, secondFactors: [], refreshesAutomatically: refreshesAutomatically, texts: texts)
    }

    package var authenticationState: AuthState {
        if let failure = session.failure { return .error(failure) }
        if session.step != nil { return .authenticating }
        return session.token == nil ? .notAuthenticated : .authenticated
    }

    package var isAuthenticated: Bool { authenticationState == .authenticated }

    package var token: Token? { session.token }

    package var currentToken: String? { token?.accessToken }

    package var now: Date { session.now }

    package func authenticate(username: String, password: String) async throws {
        try await session.signIn(username: username, password: password)
    }

    package func logout() async throws { try await session.signOut() }

    package func refreshAccessToken() async throws {
        guard token != nil else {
            throw NSError(domain: "AuthService", code: -1, userInfo: [NSLocalizedDescriptionKey: "No credential available"])
        }
        try await session.refresh()
    }

    package func getCurrentUser() async throws -> UserInfo? { try await session.userInfo() }
}
