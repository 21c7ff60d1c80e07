package import AppSession
package import AuthFoundation
package import Foundation
internal import Observation
internal import Wording

/// The service that signs users in with a password and a push, keeps their session and ends it.
@MainActor
@Observable
package final class AuthService: AuthServicing {
    /// The state of a sign-in.
    package enum State: Equatable {
        /// No user is signed in.
        case idle
        /// A request to the server is in progress.
        case authenticating
        /// The user must approve on another device, and select this number there; `nil` without a number.
        case waitingForPush(number: String? = nil)
        /// A user is signed in with this token, which automatic refreshes replace.
        case authorized(Token)
        /// The last sign-in failed, or the session has ended.
        case failed(errorMessage: String)
    }

    private enum Attempt: Equatable {
        case none, running
        case failed(String)
    }

    private let session: DirectSession
    private var attempt = Attempt.none
    @ObservationIgnored private var number = 0

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

    package var state: State {
        switch attempt {
        case .running:
            switch session.waiting {
            case nil: return .authenticating
            case .approval: return .waitingForPush()
            case .number(let number): return .waitingForPush(number: number)
            }
        case .failed(let message): return .failed(errorMessage: message)
        case .none:
            if let token = session.token { return .authorized(token) }
            return session.hasEnded ? .failed(errorMessage: session.endedMessage) : .idle
        }
    }

    package var accessToken: String? {
        if case .authorized(let token) = state { token.accessToken } else { nil }
    }

    package var now: Date { session.now }

    package func signIn(username: String, password: String) async throws {
        number += 1
        let mine = number
        attempt = .running
        do {
            try await session.signIn(username: username, password: password, secondFactor: .push)
            end(mine, with: .none)
        } catch is CancellationError {
            end(mine, with: .none)
            throw CancellationError()
        } catch {
            end(mine, with: .failed(error.explanation))
            throw error
        }
    }

    /// Ends a sign-in, unless a later sign-in has begun.
    private func end(_ number: Int, with attempt: Attempt) {
        if number == self.number { self.attempt = attempt }
    }

    package func cancelSignIn() {
        // The user sees the form again at once, and later results of this sign-in are ignored.
        number += 1
        attempt = .none
        session.cancel()
    }

    package func signOut() async throws {
        number += 1
        attempt = .none
        try await session.signOut()
    }

    package func refreshToken() async throws { try await session.refresh() }

    package func refreshTokenIfNeeded() async throws { try await session.refreshIfNeeded() }

    package func userInfo() async throws -> UserInfo? { try await session.userInfo() }

    package func settled() async { await session.settled() }
}
