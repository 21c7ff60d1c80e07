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

    private let session: SignInSession
    private let texts: SignInTexts
    /// The reason why the last sign-in failed, or why the session has ended; `nil` for none.
    private var failure: String?

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
        // The app supports no second factor. `DirectAuthApp` differs in this line, and waits for the approval.
        let options = SignInOptions(methods: [.password], secondFactors: [], refreshesAutomatically: refreshesAutomatically)
        session = SignInSession(client: client, options: options)
        var texts = language.map(SignInTexts.init(languageCode:)) ?? SignInTexts()
        texts.problems.unsupportedStep = Wording(bundle: .module, language: language)(
            "This account requires a second factor, which this app does not support. Use another app.")
        self.texts = texts
    }

    package var authenticationState: AuthState {
        if let failure { return .error(failure) }
        return switch session.state {
        case .signingIn: .authenticating
        case .expired: .error(texts.sessionEnded)
        case .signedIn, .offline, .signedOut, .locked: session.credential == nil ? .notAuthenticated : .authenticated
        }
    }

    package var isAuthenticated: Bool { authenticationState == .authenticated }

    package var token: Token? { isAuthenticated ? session.credential?.token : nil }

    package var currentToken: String? { token?.accessToken }

    package var now: Date { session.now }

    package func authenticate(username: String, password: String) async throws {
        failure = nil
        try await noting { try await session.signIn(username: username, password: password, texts: texts) }
    }

    package func logout() async throws {
        try await session.endSession()
        failure = nil
    }

    package func refreshAccessToken() async throws {
        guard session.credential != nil else {
            throw NSError(domain: "AuthService", code: -1, userInfo: [NSLocalizedDescriptionKey: "No credential available"])
        }
        try await noting { try await session.refresh(texts: texts) }
    }

    package func getCurrentUser() async throws -> UserInfo? {
        try await noting { try await session.userInfo(texts: texts) }
    }

    /// Runs an action. If the sign-in fails or the session has ended, the state shows the reason.
    private func noting<Result>(_ action: () async throws -> Result) async throws -> Result {
        do { return try await action() } catch let error as SessionError {
            failure = error.explanation
            throw error
        }
    }
}
