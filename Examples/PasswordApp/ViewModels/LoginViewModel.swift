internal import AppSession
package import AuthFoundation
internal import Foundation
internal import Observation
package import Wording

/// The state and actions of the app's screens, for SwiftUI and terminal.
@MainActor
@Observable
package final class LoginViewModel {
    /// How far the profile has come.
    package enum Profile: Equatable {
        case loading
        case loaded(UserInfo)
        case failed
    }

    private let authService: any AuthServicing
    /// The app's texts.
    @ObservationIgnored package let wording: Wording

    /// The user's input.
    package var username = ""
    package var password = ""

    /// How much of what buttons begin is under way.
    private var running = 0
    /// Why the last action did not work.
    package private(set) var errorMessage: String?

    private var wantsProfile = false
    /// Whether the profile is presented; only while a user is signed in.
    package var showsProfile: Bool {
        get { wantsProfile && authState == .authenticated }
        set { wantsProfile = newValue }
    }
    /// The profile, once ``loadProfile()`` has been called.
    package private(set) var profile = Profile.loading
    /// The number of sessions so far; results of an earlier session are discarded.
    @ObservationIgnored private var visits = 0
    /// Whether the tokens are presented. If the session ends meanwhile, there are none to see any more, which is said.
    package var showsTokenDetails = false

    /// Shows an authentication.
    ///
    /// - Parameters:
    ///   - authService: The authentication; by default by the client of `Okta.plist`.
    ///   - language: The language of the texts; nil for that of the person.
    package init(authService: (any AuthServicing)? = nil, language: String? = nil) {
        self.authService = authService ?? AuthService(language: language)
        wording = Wording(bundle: .module, language: language)
    }

    /// Where the sign-in stands.
    package var authState: AuthService.AuthState { authService.authenticationState }

    /// Whether something is under way that was begun by a button.
    package var isLoading: Bool { running > 0 }

    /// Whether the form can be sent.
    package var canSubmit: Bool { !username.isEmpty && !password.isEmpty && !isLoading }

    /// The text of the banner: why the last action failed, or why the user is signed out.
    package var message: String? {
        if let errorMessage { return errorMessage }
        if case .error(let message) = authState { return message }
        return nil
    }

    /// The access token, for a look at it.
    package var token: String { authService.currentToken ?? wording("No Token") }

    /// The tokens by part, for developers; empty without a session.
    package var tokenDetails: [TokenDetail] { authService.token?.details(wording, now: authService.now) ?? [] }

    // MARK: - Actions

    /// Signs in with what is typed; does nothing while ``canSubmit`` is false.
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

    /// Signs out, and forgets what was typed and fetched.
    package func logout() async {
        await loading {
            wording("Logout failed: %@", $0)
        } action: {
            try await authService.logout()
            (username, password) = ("", "")
            forget()
        }
    }

    /// Who comes next sees nothing of who was there.
    private func forget() {
        visits += 1
        (wantsProfile, showsTokenDetails, profile) = (false, false, .loading)
    }

    /// Gets new tokens.
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
    /// - Returns: Nil on failure; ``errorMessage`` says why.
    package func fetchUserProfile() async -> UserInfo? {
        let mine = visits
        do {
            errorMessage = nil
            let user = try await authService.getCurrentUser()
            return mine == visits ? user : nil
        } catch is CancellationError {
            return nil
        } catch {
            if mine == visits { errorMessage = wording("Failed to fetch user profile: %@", error.localizedDescription) }
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
            // Who cancelled knows.
        } catch {
            errorMessage = describe(error.localizedDescription)
        }
    }
}
