internal import Foundation
public import Observation
internal import Wording

/// The state and actions of the app's screen.
@Observable
@MainActor
public final class AuthViewModel {
    /// Whether a user is signed in.
    public private(set) var status = SignInStatus.loggedOut
    /// The ID token of the signed-in user.
    public private(set) var idToken: String?
    /// Whether something is under way: then no other action begins.
    public private(set) var isLoading = false
    /// Whether the browser is under way, which ``cancel()`` can end.
    public private(set) var isInBrowser = false
    /// The error message of an alert; set it to `nil` to close it.
    public var errorMessage: String?
    /// The API's response for an alert; set it to `nil` to close it.
    public var serverMessage: String?
    /// The shown token info; only while a user is signed in. Set it to `nil` to close it.
    public var tokenInfo: TokenInfo? {
        get { isAuthenticated ? shownTokenInfo : nil }
        set { shownTokenInfo = newValue }
    }
    private var shownTokenInfo: TokenInfo?
    /// The shown profile; only while a user is signed in. Set it to `nil` to close it.
    public var userInfo: UserInfoModel? {
        get { isAuthenticated ? shownUserInfo : nil }
        set { shownUserInfo = newValue }
    }
    private var shownUserInfo: UserInfoModel?

    @ObservationIgnored private let authService: any AuthServiceProtocol
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Shows at once what is stored, and follows its changes.
    ///
    /// - Parameter authService: What signs in.
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

    /// Whether a user is signed in, as far as is known.
    public var isAuthenticated: Bool { status == .loggedIn }

    /// Takes over what the service knows.
    public func updateUI() {
        status = authService.status
        idToken = isAuthenticated ? authService.idToken : nil
    }

    // MARK: - Signing in and out

    /// Signs out who is signed in; signs in otherwise, also when the session has ended.
    public func handleAuthAction() async {
        await load {
            isInBrowser = true
            if isAuthenticated {
                let outcome = try await authService.signOut()
                guard outcome.isSignedOut, let failure = outcome.failure else { return }
                errorMessage = words("You are signed out on this device. The server could not be told everything: %@", failure)
            } else {
                // Who comes next sees nothing of who was there.
                (shownTokenInfo, shownUserInfo) = (nil, nil)
                // A browser that was closed is no error: the screen is as it was.
                _ = try await authService.signIn()
            }
        }
    }

    /// Gives the browser up; the screen is then as it was before.
    public func cancel() async {
        await authService.cancel()
    }

    // MARK: - Tokens and profile

    /// Gets new tokens now.
    public func refreshToken() async {
        await load { try await authService.refreshToken() }
    }

    /// Gets new tokens if need be; for when the app comes to the front. A failure is told as for any action.
    public func didBecomeActive() async {
        guard isAuthenticated else { return updateUI() }
        await load { try await authService.refreshTokenIfNeeded() }
    }

    /// Shows the token info, if there is some.
    public func fetchTokenInfo() {
        tokenInfo = authService.tokenInfo()
    }

    /// Fetches the profile and shows it.
    public func fetchUserInfo() async {
        await load { userInfo = try await authService.userInfo().map(UserInfoModel.init) }
    }

    // MARK: - The API

    /// Asks the API for a message and shows it.
    public func fetchMessage() async {
        await load { serverMessage = try await authService.fetchMessageFromBackend() }
    }

    /// Does one thing at a time, and shows what comes of it.
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
            errorMessage = error.localizedDescription
        }
    }
}
