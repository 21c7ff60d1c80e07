public import BrowserSignin
public import Foundation
internal import Wording

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The app's own service, with `BrowserSignin` and `Credential`. The stored credential is its only state.
@MainActor
public final class AuthService: AuthServiceProtocol {
    private let browser: Result<BrowserSignin, any Error>
    private let messagesURL: URL?
    private let session: any URLSessionProtocol
    private let choose: @Sendable ([Message]) -> Message?
    private let refreshesByItself: Bool
    /// Retained, because a credential refreshes itself only while it is referenced.
    private var credential: Credential?

    /// Uses the settings of `Okta.plist`. Without them, each sign-in throws the reason.
    ///
    /// - Parameter messagesURL: The URL of the messages at the resource server; `nil` for port 8000 of this machine.
    public convenience init(messagesURL: URL? = nil) {
        self.init(browser: Result { try BrowserSignin() }, messagesURL: messagesURL)
    }

    /// Uses a browser that the app chooses.
    ///
    /// - Parameters:
    ///   - browser: The browser flow, or the reason why there is none.
    ///   - messagesURL: The URL of the messages at the resource server; `nil` for port 8000 of this machine.
    ///   - session: The network session for requests to the resource server.
    ///   - refreshesByItself: Whether the service refreshes the tokens some time before they expire.
    ///   - choose: Selects the message to show; by default a random one.
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

    /// Derived from the stored credential and its last refresh.
    public var status: SignInStatus {
        guard let credential = Credential.default else { return .loggedOut }
        if case .ended = credential.sessionState { return .sessionEnded }
        return .loggedIn
    }

    /// Read from the stored credential.
    public var idToken: String? { Credential.default?.token.idToken?.rawValue }

    /// Read from the stored credential.
    public func tokenInfo() -> TokenInfo? { Credential.default?.token.idToken.map { TokenInfo(idToken: $0) } }

    /// Fetched once per sign-in.
    public func userInfo() async throws -> UserInfo? {
        try await Credential.default?.userInfo()
    }

    /// The events of the credentials.
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
        do { return try browser.get() } catch { throw AuthError.notConfigured(reason: error.localizedDescription) }
    }

    /// The browser shares no session with earlier sign-ins. The new tokens replace the stored ones.
    public func signIn() async throws -> Bool {
        let browser = try configured()
        browser.ephemeralSession = true
        do {
            let token = try await browser.signIn()
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

    /// Ends the session in the browser first, then revokes the tokens. The tokens are removed from this device in any case.
    public func signOut() async throws -> SignOutOutcome {
        guard let credential = Credential.default else { return SignOutOutcome(isSignedOut: true) }
        let report = await (try configured()).signOut(credential: credential, ending: .all)
        if case .failed(BrowserSigninError.userCancelledLogin) = report.session { return SignOutOutcome(isSignedOut: false) }
        if Credential.default == nil { keepFresh(nil) }
        return SignOutOutcome(isSignedOut: Credential.default == nil, failure: report.failure?.localizedDescription)
    }

    /// The caller of the sign-in gets the same error as when the user closes the browser.
    public func cancel() async {
        if case .success(let browser) = browser { await browser.cancel() }
    }

    // MARK: - Tokens

    /// Does nothing if no user is signed in.
    public func refreshToken() async throws {
        try await Credential.default?.refresh()
    }

    /// Does nothing if no user is signed in.
    public func refreshTokenIfNeeded() async throws {
        try await Credential.default?.refreshIfNeeded()
    }

    // MARK: - The API

    /// Refreshes the access token first if necessary.
    public func fetchMessageFromBackend() async throws -> String {
        guard let credential = Credential.default else { return words("Not authenticated.") }
        guard let messagesURL else { throw URLError(.badURL) }
        let (data, answer) = try await session.data(for: try await credential.authorizing(URLRequest(url: messagesURL)))
        guard let answer = answer as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        switch answer.statusCode {
        case 200: break
        case 401, 403: throw AuthError.tokenRefused(challenge: answer.value(forHTTPHeaderField: "WWW-Authenticate"))
        case let status: throw AuthError.unexpectedAnswer(status: status)
        }
        let messages = try JSONDecoder().decode(MessageResponse.self, from: data).messages
        return choose(messages)?.text ?? words("No messages found.")
    }
}
