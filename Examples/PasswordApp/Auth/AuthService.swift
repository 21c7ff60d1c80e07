package import AppSession
package import AuthFoundation
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

    private enum Attempt {
        case none, running
        case failed(String)
    }

    private let session: DirectSession
    private var attempt = Attempt.none

    /// Creates a service that restores the session of the previous run, so that the user stays signed in.
    ///
    /// - Parameters:
    ///   - settings: The client's settings; by default the settings of `Okta.plist`. The first sign-in reports invalid settings.
    ///   - language: The language of the messages; `nil` for the user's language.
    package convenience init(settings: ClientSettings = ClientSettings(), language: String? = nil) {
        self.init(session: DirectSession(language: language) { try settings.client() })
    }

    /// Creates a service that signs in and out with a session.
    package init(session: DirectSession) {
        self.session = session
    }

    package var authenticationState: AuthState {
        switch attempt {
        case .running: .authenticating
        case .failed(let message): .error(message)
        case .none:
            if session.token != nil { .authenticated } else if session.hasEnded { .error(session.endedMessage) } else { .notAuthenticated }
        }
    }

    package var isAuthenticated: Bool { authenticationState == .authenticated }

    package var token: Token? { isAuthenticated ? session.token : nil }

    package var currentToken: String? { token?.accessToken }

    package var now: Date { session.now }

    package func authenticate(username: String, password: String) async throws {
        attempt = .running
        do {
            try await session.signIn(username: username, password: password, secondFactor: .none)
            attempt = .none
        } catch {
            attempt = error is CancellationError ? .none : .failed(error.explanation)
            throw error
        }
    }

    package func logout() async throws {
        try await session.signOut()
        attempt = .none
    }

    package func refreshAccessToken() async throws {
        guard session.token != nil else {
            throw NSError(domain: "AuthService", code: -1, userInfo: [NSLocalizedDescriptionKey: "No credential available"])
        }
        try await session.refresh()
    }

    package func getCurrentUser() async throws -> UserInfo? { try await session.userInfo() }
}
