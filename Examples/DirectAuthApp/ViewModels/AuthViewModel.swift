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

/// The state and actions of the app's screens, for SwiftUI and terminal.
@MainActor
@Observable
package final class AuthViewModel {
    private let authService: any AuthServicing
    /// The app's texts.
    @ObservationIgnored package let wording: Wording

    /// The user's input.
    package var username = ""
    package var password = ""

    /// How much of what buttons begin is under way.
    private var running = 0
    /// Whether something is under way that was begun by a button.
    package var isLoading: Bool { running > 0 }
    /// Why the last action did not work. A sign-in's failure is in ``state``.
    package private(set) var errorMessage: String?

    private var wantsTokenInfo = false
    /// Whether the tokens are presented; only while a user is signed in.
    package var showsTokenInfo: Bool {
        get { wantsTokenInfo && isSignedIn }
        set { wantsTokenInfo = newValue }
    }
    private var profile: UserInfoModel?
    /// The presented profile; only while a user is signed in.
    package var userInfo: UserInfoModel? {
        get { isSignedIn ? profile : nil }
        set { profile = newValue }
    }

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

    private var isSignedIn: Bool { if case .authorized = state { true } else { false } }

    /// The access token of who is signed in.
    package var accessToken: String? { authService.accessToken }

    /// Whether the form can be sent.
    package var canSignIn: Bool { !username.isEmpty && !password.isEmpty && !isLoading }

    /// The error text: why the user is not signed in, or why the last action failed.
    package var message: String? {
        if case .failed(let message) = state { message } else { errorMessage }
    }

    /// The id token, for a look at it.
    package var idToken: String {
        if case .authorized(let token) = state, let idToken = token.idToken { idToken.rawValue } else { wording("(no id token)") }
    }

    /// The tokens as text, for a look at them.
    package var tokenInfo: String { tokenInfo(isSpoken: false) }

    /// The VoiceOver text of the tokens.
    package var spokenTokenInfo: String { tokenInfo(isSpoken: true) }

    private func tokenInfo(isSpoken: Bool) -> String {
        guard case .authorized(let token) = state else { return wording("No token found") }
        return token.text(wording, now: authService.now, isSpoken: isSpoken)
    }

    // MARK: - Actions

    /// Signs in with what is typed; does nothing while ``canSignIn`` is false.
    package func signIn() async {
        guard canSignIn else { return }
        // Who comes next sees nothing of who was there.
        (profile, wantsTokenInfo) = (nil, false)
        await loading {
            try await authService.signIn(username: username, password: password)
            password = ""
        }
    }

    /// Gives the sign-in under way up.
    package func cancelSignIn() {
        authService.cancelSignIn()
    }

    /// Signs out, and forgets what was typed and fetched. If the tokens can't be removed the person is still signed in, and told.
    package func signOut() async {
        await loading {
            try await authService.signOut()
            (username, password, profile, wantsTokenInfo) = ("", "", nil, false)
        }
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
