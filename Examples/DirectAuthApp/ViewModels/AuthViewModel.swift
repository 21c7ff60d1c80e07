internal import AppSession
package import AuthFoundation
internal import Foundation
internal import Observation
package import Wording

/// A profile that the app presents.
package struct UserInfoModel: Identifiable {
    /// The user.
    package let user: UserInfo

    package var id: String { user.subject ?? "" }
}

/// The state and actions of the app's screens, for SwiftUI and terminal.
@MainActor
@Observable
package final class AuthViewModel {
    private let authService: any AuthServicing
    /// The app's texts.
    @ObservationIgnored package let wording: Wording

    /// The user name in the form.
    package var username = ""
    /// The password in the form.
    package var password = ""

    /// The number of actions in progress that buttons have started.
    private var running = 0
    /// Whether an action that a button has started is in progress.
    package var isLoading: Bool { running > 0 }
    /// The error of the last action; `nil` for none. The failure of a sign-in is in ``state``.
    package private(set) var errorMessage: String?

    private var wantsTokenInfo = false
    /// Whether the tokens are presented; `false` without a signed-in user.
    package var showsTokenInfo: Bool {
        get { wantsTokenInfo && isSignedIn }
        set { wantsTokenInfo = newValue }
    }
    private var profile: UserInfoModel?
    /// The presented profile; `nil` without a signed-in user.
    package var userInfo: UserInfoModel? {
        get { isSignedIn ? profile : nil }
        set { profile = newValue }
    }

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
    package var state: AuthService.State { authService.state }

    private var isSignedIn: Bool { if case .authorized = state { true } else { false } }

    /// The access token of the signed-in user; `nil` without a user.
    package var accessToken: String? { authService.accessToken }

    /// Whether the form is complete.
    package var canSignIn: Bool { !username.isEmpty && !password.isEmpty && !isLoading }

    /// The reason why the user is not signed in, or why the last action failed; `nil` without an error.
    package var message: String? {
        if case .failed(let message) = state { message } else { errorMessage }
    }

    /// The ID token to display.
    package var idToken: String {
        if case .authorized(let token) = state, let idToken = token.idToken { idToken.rawValue } else { wording("(no id token)") }
    }

    /// The tokens to display, as text.
    package var tokenInfo: String { tokenInfo(isSpoken: false) }

    /// The VoiceOver text of the tokens.
    package var spokenTokenInfo: String { tokenInfo(isSpoken: true) }

    private func tokenInfo(isSpoken: Bool) -> String {
        guard case .authorized(let token) = state else { return wording("No token found") }
        return token.text(wording, now: authService.now, isSpoken: isSpoken)
    }

    // MARK: - Actions

    /// Signs in with the input. Does nothing while ``canSignIn`` is false.
    package func signIn() async {
        guard canSignIn else { return }
        // The next user must not see data of the previous user.
        (profile, wantsTokenInfo) = (nil, false)
        await loading {
            try await authService.signIn(username: username, password: password)
            password = ""
        }
    }

    /// Cancels the current sign-in.
    package func cancelSignIn() {
        authService.cancelSignIn()
    }

    /// Signs out, and deletes the input and the profile. If the tokens cannot be removed, the user stays signed in and sees the error.
    package func signOut() async {
        await loading {
            try await authService.signOut()
            (username, password, profile, wantsTokenInfo) = ("", "", nil, false)
        }
    }

    /// Refreshes the tokens.
    package func refreshToken() async {
        guard !isLoading else { return }
        await loading { try await authService.refreshToken() }
    }

    /// Fetches the profile and presents it.
    package func showUserInfo() async {
        guard !isLoading else { return }
        if let user = await fetchUserInfo() { userInfo = UserInfoModel(user: user) }
    }

    /// Fetches the profile.
    ///
    /// - Returns: The profile; `nil` without a user, or on failure, whose reason is then in ``errorMessage``.
    package func fetchUserInfo() async -> UserInfo? {
        var user: UserInfo?
        await loading { user = try await authService.userInfo() }
        return user
    }

    /// Cancels the current sign-in. The app calls this function before it exits.
    package func leave() async {
        authService.cancelSignIn()
        await authService.settled()
    }

    private func loading(_ action: () async throws -> Void) async {
        running += 1
        defer { running -= 1 }
        errorMessage = nil
        do {
            try await action()
        } catch is CancellationError {
            // The user cancelled and needs no message.
        } catch {
            errorMessage = error.explanation
        }
    }
}
