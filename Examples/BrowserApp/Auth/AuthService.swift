public import BrowserSignin
public import Foundation
internal import Wording

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The service of the app itself, on `BrowserSignin` and `Credential`. The stored credential is its only state.
@MainActor
public final class AuthService: AuthServiceProtocol {
    private let browser: Result<BrowserSignin, any Error>
    private let messagesURL: URL?
    private let session: any URLSessionProtocol
    private let choose: @Sendable ([Message]) -> Message?
    private let refreshesByItself: Bool
    /// Retained, because a credential refreshes itself only while it is referenced.
    private var credential: Credential?

    /// With the settings of `Okta.plist`. Without them every sign-in says why.
    ///
    /// - Parameter messagesURL: Where the resource server has its messages; nil for port 8000 of this machine.
    public convenience init(messagesURL: URL? = nil) {
        self.init(browser: Result { try BrowserSignin() }, messagesURL: messagesURL)
    }

    /// With a browser of the app's choice.
    ///
    /// - Parameters:
    ///   - browser: What signs in and out, or why there is nothing.
    ///   - messagesURL: Where the resource server has its messages; nil for port 8000 of this machine.
    ///   - session: What requests to the resource server go through.
    ///   - refreshesByItself: Whether the tokens are refreshed some time before they end.
    ///   - choose: Which of the messages is shown; by default any.
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

    /// As the stored credential and its last refresh say.
    public var status: SignInStatus {
        guard let credential = Credential.default else { return .loggedOut }
        if case .ended = credential.sessionState { return .sessionEnded }
        return .loggedIn
    }

    /// Of the stored credential.
    public var idToken: String? { Credential.default?.token.idToken?.rawValue }

    /// Of the stored credential.
    public func tokenInfo() -> TokenInfo? { Credential.default?.token.idToken.map { TokenInfo(idToken: $0) } }

    /// Fetched once for each sign-in.
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

    // MARK: - Signing in and out

    private func configured() throws -> BrowserSignin {
        do { return try browser.get() } catch { throw AuthError.notConfigured(reason: error.localizedDescription) }
    }

    /// In a browser that shares nothing with earlier sign-ins. What was stored before is replaced once the new tokens are stored.
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

    /// First the session in the browser, then the tokens, which go from this device whatever the server says.
    public func signOut() async throws -> SignOutOutcome {
        guard let credential = Credential.default else { return SignOutOutcome(isSignedOut: true) }
        let report = await (try configured()).signOut(credential: credential, ending: .all)
        if case .failed(BrowserSigninError.userCancelledLogin) = report.session { return SignOutOutcome(isSignedOut: false) }
        if Credential.default == nil { keepFresh(nil) }
        return SignOutOutcome(isSignedOut: Credential.default == nil, failure: report.failure?.localizedDescription)
    }

    /// The caller of the sign-in gets the same answer as when the person closes the browser.
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

    /// With an access token that is refreshed before if need be.
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
