internal import AppSession
package import AuthFoundation
internal import Foundation
internal import Observation
package import Wording

/// The state and actions of the app's screens, for SwiftUI and terminal.
@MainActor
@Observable
package final class LoginViewModel {
    /// The state of the profile request.
    package enum Profile: Equatable {
        case loading
        case loaded(UserInfo)
        case failed
    }

    private let authService: any AuthServicing
    /// The app's texts.
    @ObservationIgnored package let wording: Wording

    /// The user name in the form.
    package var username = ""
    /// The password in the form.
    package var password = ""

    /// The number of actions in progress that buttons have started.
    private var running = 0
    /// The error of the last action; `nil` for none.
    package private(set) var errorMessage: String?

    private var wantsProfile = false
    /// Whether the profile is presented; `false` without a signed-in user.
    package var showsProfile: Bool {
        get { wantsProfile && authState == .authenticated }
        set { wantsProfile = newValue }
    }
    /// The state of the profile request that ``loadProfile()`` sends.
    package private(set) var profile = Profile.loading
    /// The number of the current session. Results of earlier sessions are discarded.
    @ObservationIgnored private var visits = 0
    /// Whether the tokens are presented. If the session has ended, the screen shows that there are no tokens.
    package var showsTokenDetails = false

    /// Creates a view model of an authentication service.
    ///
    /// - Parameters:
    ///   - authService: The authentication service; `nil` for a service with the client of `Okta.plist`.
    ///   - language: The language of the texts; `nil` for the user's language.
    package init(authService: (any AuthServicing)? = nil, language: String? = nil) {
        self.authService = authService ?? AuthService(language: language)
        wording = Wording(bundle: .module, language: language)
    }

    /// The state of the sign-in.
    package var authState: AuthService.AuthState { authService.authenticationState }

    /// Whether an action that a button has started is in progress.
    package var isLoading: Bool { running > 0 }

    /// Whether the form is complete.
    package var canSubmit: Bool { !username.isEmpty && !password.isEmpty && !isLoading }

    /// The text of the banner: the reason why the last action failed, or why the user is signed out; `nil` for none.
    package var message: String? {
        if let errorMessage { return errorMessage }
        if case .error(let message) = authState { return message }
        return nil
    }

    /// The access token to display.
    package var token: String { authService.currentToken ?? wording("No Token") }

    /// The tokens by part, for developers; empty without a session.
    package var tokenDetails: [TokenDetail] { authService.token?.details(wording, now: authService.now) ?? [] }

    // MARK: - Actions

    /// Signs in with the input. Does nothing while ``canSubmit`` is false.
    package func login() async {
        guard canSubmit else { return }
        forget()
        await loading {
            $0
        } action: {
            try await authService.authenticate(username: username, password: password)
            password = ""
        }
    }

    /// Signs out, and deletes the input and the profile.
    package func logout() async {
        await loading {
            wording("Logout failed: %@", $0)
        } action: {
            try await authService.logout()
            (username, password) = ("", "")
            forget()
        }
    }

    /// Deletes the data of the current user, which the next user must not see.
    private func forget() {
        visits += 1
        (wantsProfile, showsTokenDetails, profile) = (false, false, .loading)
    }

    /// Refreshes the tokens.
    package func refreshToken() async {
        guard !isLoading else { return }
        await loading {
            wording("Token refresh failed: %@", $0)
        } action: {
            try await authService.refreshAccessToken()
        }
    }

    /// Fetches the profile for its screen.
    package func loadProfile() async {
        let mine = visits
        profile = .loading
        let fetched = await fetchUserProfile()
        if mine == visits { profile = fetched.map(Profile.loaded) ?? .failed }
    }

    /// Fetches the profile.
    ///
    /// - Returns: The profile; `nil` without a user, or on failure, whose reason is then in ``errorMessage``.
    package func fetchUserProfile() async -> UserInfo? {
        let mine = visits
        do {
            errorMessage = nil
            let user = try await authService.getCurrentUser()
            return mine == visits ? user : nil
        } catch is CancellationError {
            return nil
        } catch {
            if mine == visits { errorMessage = wording("Failed to fetch user profile: %@", error.explanation) }
            return nil
        }
    }

    private func loading(describe: (String) -> String, action: () async throws -> Void) async {
        running += 1
        defer { running -= 1 }
        errorMessage = nil
        do {
            try await action()
        } catch is CancellationError {
            // The user cancelled and needs no message.
        } catch {
            errorMessage = describe(error.explanation)
        }
    }
}
