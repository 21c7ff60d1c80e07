public import AuthFoundation
public import BrowserSignin
internal import Foundation
public import Observation
public import OktaDirectAuth

/// The sign-in of an app with one user at a time: the stored session, and the steps of a sign-in. The views of this module show the
/// session. An app's own views and tests can use it without these views.
///
/// ```swift
/// let session = SignInSession()  // the client of Okta.plist
/// session.form.userName = "jane.doe@example.com"
/// session.form.password = "Correct-Horse-7"
/// await session.submit()
/// ```
///
/// The session restores `Credential.default` and follows it: refreshes, failed refreshes, the end of the session at the server, and a
/// sign-out in another part of the app. Use it from the main actor.
@MainActor
@Observable
public final class SignInSession {
    /// A function that signs a challenge of the server with a passkey of the user. It throws `PasskeyError`, or `CancellationError` if its
    /// task was cancelled.
    public typealias PasskeySigner =
        @MainActor (WebAuthn.CredentialRequestOptions) async throws -> WebAuthn.AuthenticatorAssertionResponse

    /// The state, which the screen shows.
    public internal(set) var state = SignInState.signedOut

    /// The problem of the last action; `nil` for none. The next action clears it.
    public internal(set) var problem: SignInProblem?

    /// Whether a request is in progress. The screen disables its form.
    public internal(set) var isBusy = false

    /// The credential of the signed-in user, also while the state is ``SignInState/offline`` or ``SignInState/expired``; `nil` without a
    /// user and while the device is locked.
    public internal(set) var credential: Credential?

    /// The texts that the user types. ``submit()`` sends them.
    public var form = SignInForm()

    /// The app's own function that signs with passkeys, such as a test's; `nil` for that of `SignInView`, which shows Apple's sheet.
    /// Without either, the session offers no passkeys.
    public var passkeySigner: PasskeySigner?

    /// The function of the visible view that signs with passkeys.
    var sheet: PasskeySigner?

    /// The browser sign-in for ``SignInMethod/browser``; `nil` for one with the client of this session.
    public var browser: BrowserSignin?

    /// The methods and factors.
    @ObservationIgnored public let options: SignInOptions

    @ObservationIgnored let connection: Result<Connection, any Error>
    @ObservationIgnored var attempt: SignInAttempt?
    /// The task that offers passkeys above the keyboard.
    @ObservationIgnored var autoFill: Task<Void, Never>?
    /// Returns the window for the browser; `nil` if no view has set it.
    @ObservationIgnored var windowSource: (@MainActor () -> BrowserSignin.WindowAnchor?)?
    /// The revocations of tokens that arrived too late.
    @ObservationIgnored let background = BackgroundWork()
    /// Whether the storage cannot be read, because the device is locked.
    @ObservationIgnored private var isDeviceLocked = false
    /// Whether the stored session must be locked when it is read. `false` as soon as the storage could be read.
    @ObservationIgnored private var mustLock: Bool
    /// The ids of the credentials whose revocation is underway.
    @ObservationIgnored private var signingOut: Set<String> = []
    @ObservationIgnored private var lockObserver: LockObserver?
    @ObservationIgnored private var following: Task<Void, Never>?
    @ObservationIgnored private var expiry: Task<Void, Never>?

    /// The client, and parameters for each request of a sign-in.
    struct Connection: Sendable {
        let client: OAuth2Client
        var additionalParameters: [String: any APIRequestArgument]?
    }

    /// Creates a session with the client of `Okta.plist`, and restores the stored session. If the settings cannot be read, the first
    /// sign-in shows ``SignInProblem/Code/misconfigured``.
    /// - Parameter options: The methods and factors.
    public convenience init(options: SignInOptions = SignInOptions()) {
        self.init(
            options: options,
            connection: Result {
                let settings = try OAuth2Client.PropertyListConfiguration()
                return Connection(client: try OAuth2Client(settings), additionalParameters: settings.additionalParameters)
            })
    }

    /// Creates a session with a client, and restores the stored session.
    /// - Parameters:
    ///   - client: The client that signs in. It needs the grants of the options, and `refresh_token`.
    ///   - options: The methods and factors.
    public convenience init(client: OAuth2Client, options: SignInOptions = SignInOptions()) {
        self.init(client: .success(client), options: options)
    }

    /// Creates a session with a client or with the error of its settings, and restores the stored session.
    /// - Parameters:
    ///   - client: The client that signs in, or the error that ``problem`` of each sign-in names as ``SignInProblem/underlying``.
    ///   - options: The methods and factors.
    public convenience init(client: Result<OAuth2Client, any Error>, options: SignInOptions = SignInOptions()) {
        self.init(options: options, connection: client.map { Connection(client: $0) })
    }

    private init(options: SignInOptions, connection: Result<Connection, any Error>) {
        self.options = options
        self.connection = connection
        mustLock = options.lockPolicy != nil
        // Subscribes before the session is read, so that no change is missed.
        let events = Credential.events
        lockObserver = LockObserver { [weak self] in self?.update() }
        reload()
        update()
        following = Task { [weak self] in
            for await event in events {
                guard let self else { return }
                self.note(event)
            }
        }
    }

    deinit {
        following?.cancel()
        expiry?.cancel()
    }

    // MARK: - The signed-in user

    /// Whether a user is signed in, with or without a network. `false` while the device is locked.
    public var isSignedIn: Bool { state == .signedIn || state == .offline }

    /// The name of the user for display, from the ID token; `nil` if the client does not request the scope `profile`.
    public var displayName: String? {
        let token = credential?.token.idToken
        return token?.name ?? token?.preferredUsername
    }

    /// Reads the stored session again, and refreshes it if it expires soon. Call it when the app becomes active, as the
    /// view modifier `signInRequired(_:)` does.
    public func activate() async {
        reload()
        guard isSignedIn, let credential, credential.token.refreshToken != nil else { return }
        // The events of the credential report the result.
        try? await credential.refreshIfNeeded()
        update()
    }

    /// Unlocks the session after the user has proved their presence. If the device was locked, reads the session again first. A no-op in
    /// other states.
    /// - Parameter verify: Verifies the user, and throws if that fails; `nil` for the device's biometrics or passcode, which tvOS and Linux
    ///   do not have.
    public func unlock(verifying verify: (@Sendable (_ prompt: String) async throws -> Void)? = nil) async {
        guard state == .locked, !isBusy else { return }
        if credential == nil { reload() }
        guard let credential, credential.isLocked else { return await activate() }
        problem = nil
        isBusy = true
        do {
            try await credential.unlock(verifying: verify)
            follow()
        } catch is CancellationError {
        } catch {
            problem = SignInProblem(.notUnlocked, underlying: error)
        }
        isBusy = false
        update()
        await activate()
    }

    /// Signs the user out: removes the tokens from this device, and revokes them. Without a network, the revocation is sent later. The
    /// tokens of a session that is locked at the call and stays locked are only removed, because they cannot be read. A sign-in in progress
    /// is cancelled.
    /// - Parameter endsBrowserSession: Whether to end the session of the browser too. The system then shows the browser. Requires the
    ///   method ``SignInMethod/browser``.
    public func signOut(endsBrowserSession: Bool = false) async {
        cancel()
        // The session is not busy: another user can sign in and out while the revocation is underway.
        guard let credential, signingOut.insert(credential.id).inserted else { return }
        defer { signingOut.remove(credential.id) }
        problem = nil
        // Read before the browser is shown: the session can be locked while the user is in the browser or in another app.
        let known = try? credential.unlockedToken()
        if endsBrowserSession, let browser = try? usableBrowser() {
            let report = await browser.signOut(from: windowSource?(), credential: credential, ending: .session)
            if let failure = report.failure { show(SignInProblem(failure, at: .browser), of: credential) }
        }
        do {
            if let token = known ?? (try? credential.unlockedToken()) {
                try await credential.revoke(known: token)
            } else {
                try credential.remove()
            }
        } catch {
            // The tokens are removed even if the revocation fails, so only a failed removal is a problem.
            if Credential.allIDs.contains(credential.id) { show(SignInProblem(.storageFailed, underlying: error), of: credential) }
        }
        reload()
    }

    /// Shows a problem of a sign-out, unless another user has signed in meanwhile.
    private func show(_ problem: SignInProblem?, of credential: Credential) {
        if self.credential == nil || self.credential?.id == credential.id { self.problem = problem }
    }

    /// Waits until the server knows of cancelled sign-ins, for a program that is about to exit.
    public func settled() async {
        await background.settled()
    }

    // MARK: - Following the credential

    private func note(_ event: Credential.Event) {
        switch event {
        case .stored, .defaultChanged, .removed: reload()
        case .refreshed(let changed), .refreshFailed(let changed, _), .sessionEnded(let changed, _):
            guard changed.id == credential?.id else { return }
            // The credential is the same object with other tokens, which views may show.
            withMutation(keyPath: \.credential) { update() }
        case .revocationDelivered, .storageFailed: break
        }
    }

    /// Reads the default credential.
    func reload() {
        do {
            isDeviceLocked = false
            let stored = try Credential.loadDefault()
            // The device may have been locked when the app was launched.
            if mustLock { stored?.lock() }
            mustLock = false
            use(stored)
        } catch {
            isDeviceLocked = (error as? KeychainError)?.isLocked == true
            if !isDeviceLocked { problem = SignInProblem(.storageFailed, underlying: error) }
            use(nil)
        }
    }

    func use(_ credential: Credential?) {
        // After a sign-in, the session needs no unlock.
        if credential != nil { mustLock = false }
        if self.credential !== credential {
            self.credential = credential
            if let policy = options.lockPolicy { credential?.lockPolicy = policy }
            follow()
        }
        update()
    }

    /// Refreshes the tokens before they expire. Without a refresh token, the session ends with the access token.
    private func follow() {
        expiry?.cancel()
        guard let credential else { return }
        if credential.token.refreshToken != nil { credential.automaticRefresh = options.refreshesAutomatically }
        guard credential.token.refreshToken == nil, let end = credential.token.expiresAt else { return }
        let clock = credential.oauth2.clock
        expiry = Task { [weak self, now = credential.oauth2.now] in
            guard (try? await clock.sleep(for: end.timeIntervalSince(now))) != nil else { return }
            self?.update()
        }
    }

    /// Derives the state.
    func update() {
        let stored = storedState
        if let attempt {
            guard stored == .signedIn else { return set(.signingIn(attempt.step)) }
            // Another part of the app has signed in.
            endAttempt()
        }
        if stored == .expired, form.userName.isEmpty { form.userName = credential?.token.idToken?.preferredUsername ?? "" }
        set(stored)
    }

    private func set(_ state: SignInState) {
        guard self.state != state else { return }
        self.state = state
        // Another part of the app may have signed in.
        if isSignedIn { form.password = "" }
    }

    private var storedState: SignInState {
        guard let credential else { return isDeviceLocked ? .locked : .signedOut }
        if credential.isLocked { return .locked }
        switch credential.sessionState {
        case .active: return credential.isOver ? .expired : .signedIn
        case .ended: return .expired
        case .unreachable: return credential.isOver ? .expired : .offline
        }
    }
}

extension Credential {
    /// Whether the access token has expired and there is no refresh token.
    fileprivate var isOver: Bool {
        guard token.refreshToken == nil, let end = token.expiresAt else { return false }
        return end <= oauth2.now
    }
}

/// An observer that calls a function whenever a credential is locked or unlocked, until the observer is released.
private final class LockObserver: Sendable {
    // Safe because it is written once, and the center removes an observer on any thread.
    private nonisolated(unsafe) let observer: any NSObjectProtocol

    init(_ changed: @escaping @MainActor @Sendable () -> Void) {
        observer = NotificationCenter.default.addObserver(forName: .credentialLockChanged, object: nil, queue: nil) { _ in
            Task { @MainActor in changed() }
        }
    }

    deinit { NotificationCenter.default.removeObserver(observer) }
}
