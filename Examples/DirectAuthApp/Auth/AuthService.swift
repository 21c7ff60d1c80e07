package import AppSession
package import AuthFoundation
internal import CountersignUI
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

    private let session: SignInSession
    private let texts: SignInTexts
    /// The reason why the last sign-in failed, or why the session has ended; `nil` for none.
    private var failure: String?
    @ObservationIgnored private var number = 0

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
        let options = SignInOptions(
            methods: [.password], secondFactors: [.push], refreshesAutomatically: refreshesAutomatically)
        session = SignInSession(client: client, options: options)
        var texts = language.map(SignInTexts.init(languageCode:)) ?? SignInTexts()
        // The app has one second factor, so the user cannot try another way.
        let wording = Wording(bundle: .module, language: language)
        texts.problems.denied = wording("The request was denied on your device. If it was you, sign in again.")
        texts.problems.notAnswered = wording("The request was not answered in time. Sign in again.")
        self.texts = texts
    }

    package var state: State {
        if let failure { return .failed(errorMessage: failure) }
        return switch session.state {
        case .signingIn(let step) where step.kind == .push: .waitingForPush(number: step.number)
        case .signingIn: .authenticating
        case .expired: .failed(errorMessage: texts.sessionEnded)
        case .signedIn, .offline, .signedOut, .locked: session.credential.map { .authorized($0.token) } ?? .idle
        }
    }

    package var accessToken: String? {
        if case .authorized(let token) = state { token.accessToken } else { nil }
    }

    package var now: Date { session.now }

    package func signIn(username: String, password: String) async throws {
        number += 1
        let mine = number
        failure = nil
        do {
            try await session.signIn(username: username, password: password, texts: texts)
        } catch {
            // After a cancellation, a later sign-in may have begun.
            guard mine == number, error is SessionError else { throw CancellationError() }
            failure = error.explanation
            throw error
        }
    }

    package func cancelSignIn() {
        // The user sees the form again at once.
        number += 1
        failure = nil
        session.cancel()
    }

    package func signOut() async throws {
        number += 1
        failure = nil
        try await session.endSession()
    }

    package func refreshToken() async throws {
        try await noting { try await session.refresh(texts: texts) }
    }

    package func refreshTokenIfNeeded() async throws {
        try await noting { try await session.refresh(ifNeeded: true, texts: texts) }
    }

    package func userInfo() async throws -> UserInfo? {
        try await noting { try await session.userInfo(texts: texts) }
    }

    /// Runs an action. If the session has ended, the state shows the reason.
    private func noting<Result>(_ action: () async throws -> Result) async throws -> Result {
        do { return try await action() } catch let error as SessionError {
            failure = error.explanation
            throw error
        }
    }

    package func settled() async { await session.settled() }
}
