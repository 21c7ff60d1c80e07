internal import AppSession
package import AuthFoundation
package import Foundation
internal import Observation

/// An authentication service without a server, for previews. It accepts every password.
@MainActor
@Observable
package final class InMemoryAuthService: AuthServicing {
    package private(set) var authenticationState: AuthService.AuthState
    package private(set) var token: Token?

    /// Creates a service in a given state.
    package init(_ state: AuthService.AuthState = .notAuthenticated) {
        authenticationState = state
        if state == .authenticated { token = try? Sample.token() }
    }

    package var isAuthenticated: Bool { authenticationState == .authenticated }
    package var currentToken: String? { token?.accessToken }
    package var now: Date { token?.issuedAt ?? .distantPast }

    package func authenticate(username: String, password: String) async throws {
        token = try Sample.token()
        authenticationState = .authenticated
    }

    package func logout() async throws {
        token = nil
        authenticationState = .notAuthenticated
    }

    package func refreshAccessToken() async throws { token = try Sample.token(2) }

    package func getCurrentUser() async throws -> UserInfo? { try Sample.userInfo() }
}
