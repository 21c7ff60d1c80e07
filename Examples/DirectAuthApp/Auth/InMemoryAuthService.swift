internal import AppSession
package import AuthFoundation
package import Foundation
internal import Observation

/// An authentication without a server, for previews: whoever signs in is asked to pick a number, and is signed in when they approve.
@MainActor
@Observable
package final class InMemoryAuthService: AuthServicing {
    package private(set) var state: AuthService.State
    @ObservationIgnored private var refreshes = 1

    /// Begins in a state.
    ///
    /// - Parameter state: The state.
    package init(_ state: AuthService.State = .idle) {
        self.state = state
    }

    /// Begins with somebody signed in.
    ///
    /// - Throws: If there is no sample.
    package static func signedIn() throws -> InMemoryAuthService { InMemoryAuthService(.authorized(try Sample.token())) }

    package var accessToken: String? {
        if case .authorized(let token) = state { token.accessToken } else { nil }
    }

    /// The sample's tokens are as old as the sample is.
    package var now: Date { if case .authorized(let token) = state { token.issuedAt ?? .distantPast } else { .distantPast } }

    package func signIn(username: String, password: String) async throws { state = .waitingForPush(number: "42") }

    /// What the person does on the other device.
    ///
    /// - Throws: If there is no sample.
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
