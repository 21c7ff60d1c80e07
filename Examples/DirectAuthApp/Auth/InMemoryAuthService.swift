internal import AppSession
package import AuthFoundation
package import Foundation
internal import Observation

/// An authentication service without a server, for previews. Every sign-in shows a number and succeeds after ``approve()``.
@MainActor
@Observable
package final class InMemoryAuthService: AuthServicing {
    package private(set) var state: AuthService.State
    @ObservationIgnored private var refreshes = 1

    /// Creates a service in a given state.
    package init(_ state: AuthService.State = .idle) {
        self.state = state
    }

    /// Creates a service with a signed-in user.
    ///
    /// - Throws: An error if the sample token cannot be created.
    package static func signedIn() throws -> InMemoryAuthService { InMemoryAuthService(.authorized(try Sample.token())) }

    package var accessToken: String? {
        if case .authorized(let token) = state { token.accessToken } else { nil }
    }

    /// A time at which the sample's tokens are valid.
    package var now: Date { if case .authorized(let token) = state { token.issuedAt ?? .distantPast } else { .distantPast } }

    package func signIn(username: String, password: String) async throws { state = .waitingForPush(number: "42") }

    /// Simulates the user's approval on the other device.
    ///
    /// - Throws: An error if the sample token cannot be created.
    package func approve() throws { state = .authorized(try Sample.token()) }

    package func cancelSignIn() { state = .idle }

    package func signOut() async throws { state = .idle }

    package func refreshToken() async throws {
        refreshes += 1
        state = .authorized(try Sample.token(refreshes))
    }

    package func refreshTokenIfNeeded() async throws {}

    package func userInfo() async throws -> UserInfo? { try Sample.userInfo() }

    package func settled() async {}
}
