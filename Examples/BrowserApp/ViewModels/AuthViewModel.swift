internal import Foundation
public import Observation
internal import Wording

/// The state and actions of the app's screen.
@Observable
@MainActor
public final class AuthViewModel {
    /// Whether a user is signed in.
    public private(set) var status = SignInStatus.loggedOut
    /// The ID token of the signed-in user; `nil` without a user.
    public private(set) var idToken: String?
    /// Whether an action is in progress, so that no other action can begin.
    public private(set) var isLoading = false
    /// Whether the browser is open, so that ``cancel()`` can close it.
    public private(set) var isInBrowser = false
    /// The error message of an alert; `nil` for none. Set it to `nil` to close the alert.
    public var errorMessage: String?
    /// The API's response in an alert; `nil` for none. Set it to `nil` to close the alert.
    public var serverMessage: String?
    /// The shown token info; `nil` without a signed-in user. Set it to `nil` to close the screen.
    public var tokenInfo: TokenInfo? {
        get { isAuthenticated ? shownTokenInfo : nil }
        set { shownTokenInfo = newValue }
    }
    private var shownTokenInfo: TokenInfo?
    /// The shown profile; `nil` without a signed-in user. Set it to `nil` to close the screen.
    public var userInfo: UserInfoModel? {
        get { isAuthenticated ? shownUserInfo : nil }
        set { shownUserInfo = newValue }
    }
    private var shownUserInfo: UserInfoModel?

    @ObservationIgnored private let authService: any AuthServiceProtocol
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Creates a view model that shows the stored state and follows its changes.
    ///
    /// - Parameter authService: The sign-in service.
    public init(authService: any AuthServiceProtocol) {
        self.authService = authService
        let changes = authService.changes()
        updateUI()
        following = Task { [weak self] in
            for await _ in changes {
                guard let self else { return }
                self.updateUI()
            }
        }
    }

    deinit {
        following?.cancel()
    }

    /// Whether a user is signed in, as last observed.
    public var isAuthenticated: Bool { status == .loggedIn }

    /// Copies the state of the service.
    public func updateUI() {
        status = authService.status
        idToken = isAuthenticated ? authService.idToken : nil
    }

    // MARK: - Sign-in and sign-out

    /// Signs the user out. If no user is signed in or the session has ended, signs in.
    public func handleAuthAction() async {
        await load {
            isInBrowser = true
            if isAuthenticated {
                let outcome = try await authService.signOut()
                guard outcome.isSignedOut, let failure = outcome.failure else { return }
                errorMessage = words("You are signed out on this device. Sign-out at the server failed: %@", failure)
            } else {
                // The next user must not see data of the previous user.
                (shownTokenInfo, shownUserInfo) = (nil, nil)
                // If the user closes the browser, the screen stays unchanged.
                _ = try await authService.signIn()
            }
        }
    }

    /// Closes the browser. The screen returns to its earlier state.
    public func cancel() async {
        await authService.cancel()
    }

    // MARK: - Tokens and profile

    /// Refreshes the tokens.
    public func refreshToken() async {
        await load { try await authService.refreshToken() }
    }

    /// Refreshes the tokens if they expire soon, and shows a failure. The app calls this function when it becomes active.
    public func didBecomeActive() async {
        guard isAuthenticated else { return updateUI() }
        await load { try await authService.refreshTokenIfNeeded() }
    }

    /// Shows the token info, if the user has an ID token.
    public func fetchTokenInfo() {
        tokenInfo = authService.tokenInfo()
    }

    /// Fetches the profile and shows it.
    public func fetchUserInfo() async {
        await load { userInfo = try await authService.userInfo().map(UserInfoModel.init) }
    }

    // MARK: - The API

    /// Fetches a message from the API and shows it.
    public func fetchMessage() async {
        await load { serverMessage = try await authService.fetchMessageFromBackend() }
    }

    /// Fetches a private message from the API and shows it. If the API needs a stronger or newer sign-in, the browser opens. If the user
    /// closes the browser, the screen stays unchanged.
    public func fetchPrivateMessage() async {
        await load { serverMessage = try await authService.fetchPrivateMessage { isInBrowser = true } }
    }

    /// Runs one action at a time, and shows its result.
    private func load(_ action: () async throws -> Void) async {
        guard !isLoading else { return }
        isLoading = true
        errorMessage = nil
        defer {
            isLoading = false
            isInBrowser = false
            updateUI()
        }
        do {
            try await action()
        } catch is CancellationError {
            // The user cancelled, and needs no message.
        } catch {
            errorMessage = error.explanation
        }
    }
}
