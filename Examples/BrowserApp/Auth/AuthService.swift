public import BrowserSignin
public import Foundation
internal import Wording

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The app's own service, which uses `BrowserSignin` and `Credential`. The stored credential is its only state.
@MainActor
public final class AuthService: AuthServiceProtocol {
    private let browser: Result<BrowserSignin, any Error>
    private let messagesURL: URL?
    private let session: any URLSessionProtocol
    private let choose: @Sendable ([Message]) -> Message?
    private let refreshesByItself: Bool
    /// The current credential; `nil` without a signed-in user. It is retained, because a credential refreshes itself only while it is
    /// referenced.
    private var credential: Credential?

    /// Creates a service with the settings of `Okta.plist`. If the settings are missing or invalid, each sign-in throws the reason.
    ///
    /// - Parameter messagesURL: The URL of the messages at the resource server; `nil` for port 8000 of this machine.
    public convenience init(messagesURL: URL? = nil) {
        self.init(browser: Result { try BrowserSignin() }, messagesURL: messagesURL)
    }

    /// Creates a service with a browser that the app chooses.
    ///
    /// - Parameters:
    ///   - browser: The browser flow, or the error that prevented its creation.
    ///   - messagesURL: The URL of the messages at the resource server; `nil` for port 8000 of this machine.
    ///   - session: The network session for requests to the resource server.
    ///   - refreshesByItself: Whether the service refreshes the tokens some time before they expire.
    ///   - choose: Selects the message to show; by default a random message.
    public init(
        browser: Result<BrowserSignin, any Error>, messagesURL: URL? = nil, session: any URLSessionProtocol = URLSession.shared,
        refreshesByItself: Bool = true, choose: @escaping @Sendable ([Message]) -> Message? = { $0.randomElement() }
    ) {
        self.browser = browser
        self.messagesURL = messagesURL ?? URL(string: "http://localhost:8000/api/messages")
        self.session = session
        self.refreshesByItself = refreshesByItself
        self.choose = choose
        keepFresh(Credential.default)
    }

    private func keepFresh(_ credential: Credential?) {
        self.credential = credential
        if refreshesByItself, credential?.token.refreshToken != nil { credential?.automaticRefresh = true }
    }

    // MARK: - State

    /// Whether a user is signed in, according to the stored credential and its last refresh.
    public var status: SignInStatus {
        guard let credential = Credential.default else { return .loggedOut }
        if case .ended = credential.sessionState { return .sessionEnded }
        return .loggedIn
    }

    /// The ID token of the stored credential; `nil` without an ID token.
    public var idToken: String? { Credential.default?.token.idToken?.rawValue }

    /// Returns the content of the ID token of the stored credential; `nil` without an ID token.
    public func tokenInfo() -> TokenInfo? { Credential.default?.token.idToken.map { TokenInfo(idToken: $0) } }

    /// Returns the profile of the signed-in user, which is fetched once per sign-in; `nil` without a user.
    public func userInfo() async throws -> UserInfo? {
        try await Credential.default?.userInfo()
    }

    /// Returns a sequence of the changes of all credentials.
    public func changes() -> AsyncStream<Void> {
        let events = Credential.events
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let following = Task {
            for await _ in events { change.yield() }
            change.finish()
        }
        change.onTermination = { _ in following.cancel() }
        return changes
    }

    // MARK: - Sign-in and sign-out

    private func configured() throws -> BrowserSignin {
        do { return try browser.get() } catch { throw AuthError.notConfigured(reason: String(reflecting: error)) }
    }

    /// Signs in with a browser that shares no session with earlier sign-ins. The new tokens replace the stored tokens.
    public func signIn() async throws -> Bool {
        try await signIn(.init())
    }

    private func signIn(_ context: AuthorizationCodeFlow.Context) async throws -> Bool {
        let browser = try configured()
        browser.ephemeralSession = true
        do {
            let token = try await browser.signIn(context: context)
            let former = Credential.default
            let credential = try Credential.store(token)
            try Credential.setDefault(credential)
            keepFresh(credential)
            try former?.remove()
            return true
        } catch BrowserSigninError.userCancelledLogin {
            return false
        }
    }

    /// Ends the session in the browser, then revokes the tokens. The tokens are removed from this device even if the server is not
    /// reachable. If the user closes the browser, nothing changes.
    public func signOut() async throws -> SignOutOutcome {
        guard let credential = Credential.default else { return SignOutOutcome(isSignedOut: true) }
        let report = await (try configured()).signOut(credential: credential, ending: .all)
        if case .failed(BrowserSigninError.userCancelledLogin) = report.session { return SignOutOutcome(isSignedOut: false) }
        if Credential.default == nil { keepFresh(nil) }
        return SignOutOutcome(isSignedOut: Credential.default == nil, failure: report.failure?.explanation)
    }

    /// Cancels the sign-in or sign-out in the browser. Its caller gets the same result as after the user closes the browser.
    public func cancel() async {
        if case .success(let browser) = browser { await browser.cancel() }
    }

    // MARK: - Tokens

    /// Refreshes the tokens. Does nothing if no user is signed in.
    public func refreshToken() async throws {
        try await Credential.default?.refresh()
    }

    /// Refreshes the tokens if they expire soon. Does nothing if no user is signed in.
    public func refreshTokenIfNeeded() async throws {
        try await Credential.default?.refreshIfNeeded()
    }

    // MARK: - The API

    /// Fetches the messages and returns the text of the chosen message. Refreshes the access token first if necessary.
    public func fetchMessageFromBackend() async throws -> String {
        guard let credential = Credential.default else { return words("Not authenticated.") }
        let (data, answer) = try await request(messagesURL, credential)
        return try message(in: data, answer)
    }

    /// Fetches the private messages and returns the text of the chosen message. If the API needs a stronger or newer sign-in, signs in
    /// again and sends the request once more. A second challenge is an error, so that the user is not asked again and again.
    public func fetchPrivateMessage(beforeSignIn: () -> Void) async throws -> String? {
        guard let credential = Credential.default else { return words("Not authenticated.") }
        let url = messagesURL?.appending(path: "private")
        let (data, answer) = try await request(url, credential)
        guard let challenge = StepUpChallenge(answer) else { return try message(in: data, answer) }
        beforeSignIn()
        guard try await signIn(.init(steppingUp: challenge, from: credential.token)), let renewed = Credential.default else { return nil }
        let (newData, newAnswer) = try await request(url, renewed)
        return try message(in: newData, newAnswer)
    }

    private func request(_ url: URL?, _ credential: Credential) async throws -> (Data, HTTPURLResponse) {
        guard let url else { throw URLError(.badURL) }
        let (data, answer) = try await session.data(for: try await credential.authorizing(URLRequest(url: url)))
        guard let answer = answer as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (data, answer)
    }

    private func message(in data: Data, _ answer: HTTPURLResponse) throws -> String {
        switch answer.statusCode {
        case 200: break
        case 401, 403: throw AuthError.tokenRefused(challenge: answer.value(forHTTPHeaderField: "WWW-Authenticate"))
        case let status: throw AuthError.unexpectedAnswer(status: status)
        }
        let messages = try JSONDecoder().decode(MessageResponse.self, from: data).messages
        return choose(messages)?.text ?? words("No messages found.")
    }
}
