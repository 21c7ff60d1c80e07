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
        // The app has one second factor, so the user cannot try another way.
        let wording = Wording(bundle: .module, language: language)
        texts.problems.denied = wording("The request was denied on your device. If it was you, sign in again.")
        texts.problems.notAnswered = wording("The request was not answered in time. Sign in again.")
        session = PasswordSession(
            client: client, secondFactors: [.push], refreshesAutomatically: refreshesAutomatically, texts: texts)
    }

    package var state: State {
        if let failure = session.failure { return .failed(errorMessage: failure) }
        if let step = session.step { return step.kind == .push ? .waitingForPush(number: step.number) : .authenticating }
        return session.token.map { .authorized($0) } ?? .idle
    }

    package var accessToken: String? { session.token?.accessToken }

    package var now: Date { session.now }

    package func signIn(username: String, password: String) async throws {
        try await session.signIn(username: username, password: password)
    }

    package func cancelSignIn() { session.cancel() }

    package func signOut() async throws { try await session.signOut() }

    package func refreshToken() async throws { try await session.refresh() }

    package func refreshTokenIfNeeded() async throws { try await session.refresh(ifNeeded: true) }

    package func userInfo() async throws -> UserInfo? { try await session.userInfo() }

    package func settled() async { await session.settled() }
}
