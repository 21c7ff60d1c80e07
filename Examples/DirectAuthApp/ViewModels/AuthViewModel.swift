internal import AppSession
package import AuthFoundation
internal import Foundation
internal import Observation
package import Wording

/// A profile that is presented.
package struct UserInfoModel: Identifiable {
    /// The person.
    package let user: UserInfo

    package var id: String { user.subject ?? "" }
}

/// What the screens of the app show and do, for each of its faces.
@MainActor
@Observable
package final class AuthViewModel {
    private let authService: any AuthServicing
    /// The app's texts.
    @ObservationIgnored package let wording: Wording

    /// What is typed.
    package var username = ""
    package var password = ""

    /// How much of what buttons begin is under way.
    private var running = 0
    /// Whether something is under way that was begun by a button.
    package var isLoading: Bool { running > 0 }
    /// Why the last action did not work. A sign-in's failure is in ``state``.
    package private(set) var errorMessage: String?

    /// Whether the tokens are presented.
    package var showsTokenInfo = false
    /// The profile that is presented.
    package var userInfo: UserInfoModel?

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
    package var state: AuthService.State { authService.state }

    /// The access token of who is signed in.
    package var accessToken: String? { authService.accessToken }

    /// Whether the form can be sent.
    package var canSignIn: Bool { !username.isEmpty && !password.isEmpty && !isLoading }

    /// What to tell the person in red: why they are not signed in, or why the last action did not work.
    package var message: String? {
        if case .failed(let message) = state { message } else { errorMessage }
    }

    /// The id token, for a look at it.
    package var idToken: String {
        if case .authorized(let token) = state, let idToken = token.idToken { idToken.rawValue } else { wording("(no id token)") }
    }

    /// The tokens as text, for a look at them.
    package var tokenInfo: String {
        if case .authorized(let token) = state { token.text(wording, now: authService.now) } else { wording("No token found") }
    }

    // MARK: - Actions

    /// Signs in with what is typed; does nothing while ``canSignIn`` is false.
    package func signIn() async {
        guard canSignIn else { return }
        await loading {
            try await authService.signIn(username: username, password: password)
            password = ""
        }
    }

    /// Gives the sign-in under way up.
    package func cancelSignIn() {
        authService.cancelSignIn()
    }

    /// Signs out, and forgets what was typed and fetched.
    package func signOut() async {
        await loading { await authService.signOut() }
        (username, password, errorMessage, userInfo, showsTokenInfo) = ("", "", nil, nil, false)
    }

    /// Gets new tokens.
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
    /// - Returns: Nil on failure; ``errorMessage`` says why.
    package func fetchUserInfo() async -> UserInfo? {
        var user: UserInfo?
        await loading { user = try await authService.userInfo() }
        return user
    }

    /// Ends what is under way; for an app that is about to end.
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
            // Who cancelled knows.
        } catch {
            errorMessage = error.localizedDescription
        }
    }
}
