public import AuthFoundation
public import Foundation
public import Observation
internal import OktaDirectAuth
internal import Wording

/// A session that signs in without a browser. The password apps share this class. An app adds a second factor by changing one argument of
/// ``signIn(username:password:secondFactor:)``.
///
/// ``Credential`` stores the tokens. ``token`` follows every change of the stored tokens: a manual or automatic refresh, or a sign-out in
/// another part of the app.
@MainActor
@Observable
public final class DirectSession {
    /// The step on another device that the sign-in waits for.
    public enum Waiting: Equatable, Sendable {
        /// An approval.
        case approval
        /// A selection of this number.
        case number(String)
    }

    /// The second factors that the app supports.
    public enum SecondFactor: Sendable {
        /// No second factor. A sign-in that requires a second factor fails.
        case none
        /// An approval of a push on another device.
        case push
    }

    /// The tokens of the signed-in user; `nil` without a user.
    public private(set) var token: Token?
    /// The step that the running sign-in waits for; `nil` for none.
    public private(set) var waiting: Waiting?
    /// Whether the server has reported the end of the session; `false` again from the next sign-in or sign-out.
    public private(set) var hasEnded = false

    /// The message after the end of the session.
    public var endedMessage: String { SessionError.sessionEnded(wording).localizedDescription }

    @ObservationIgnored private let flow: Result<DirectAuthenticationFlow, any Error>
    @ObservationIgnored private let refreshesByItself: Bool
    @ObservationIgnored private let wording: Wording
    @ObservationIgnored private var credential: Credential?
    @ObservationIgnored private var signInTask: Task<Token, any Error>?
    /// The task that revokes tokens that arrived after a cancellation.
    @ObservationIgnored private var givingBack: Task<Void?, Never>?
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Creates a session that restores the session of the previous run.
    ///
    /// - Parameters:
    ///   - refreshesByItself: Whether the tokens are refreshed automatically before they expire.
    ///   - language: The language of the messages; `nil` for the user's language.
    ///   - client: Creates the client. If this closure throws, each sign-in throws a ``SessionError`` with the reason.
    public init(refreshesByItself: Bool = true, language: String? = nil, client: () throws -> OAuth2Client) {
        self.refreshesByItself = refreshesByItself
        wording = Wording(bundle: .module, language: language)
        flow = Result { DirectAuthenticationFlow(client: try client()) }
        let events = Credential.events
        use(Credential.default)
        following = Task { [weak self] in
            for await event in events {
                guard let self else { return }
                self.note(event)
            }
        }
    }

    deinit {
        following?.cancel()
    }

    /// The current time by the server's clock, as known from the server's responses; without responses, by this device's clock.
    public var now: Date { credential?.oauth2.now ?? (try? flow.get())?.client.now ?? .now }

    // MARK: - Signing in

    /// Signs in and stores the tokens as the default credential. Returns after the user's approval, however long it takes.
    ///
    /// - Parameter secondFactor: The second factor that the app supports, for users whose password is not sufficient.
    /// - Throws: ``SessionError``, errors of the flow and the storage; `CancellationError` after ``cancel()``.
    public func signIn(username: String, password: String, secondFactor: SecondFactor) async throws {
        let flow = try configured()
        signInTask?.cancel()
        hasEnded = false
        let task = Task { try await self.tokens(by: flow, username: username, password: password, secondFactor: secondFactor) }
        signInTask = task
        defer {
            if signInTask == task {
                signInTask = nil
                waiting = nil
            }
        }
        let tokens = try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
        guard !task.isCancelled else {
            // The tokens arrived after the cancellation and must not be used.
            givingBack = Task { try? await flow.client.revoke(tokens, type: .all) }
            throw CancellationError()
        }
        let credential = try Credential.store(tokens)
        try Credential.setDefault(credential)
        use(credential)
    }

    private func configured() throws -> DirectAuthenticationFlow {
        do { return try flow.get() } catch { throw SessionError.notConfigured(error, wording) }
    }

    /// Cancels the current sign-in. A later approval has no effect, and the server withdraws the request from the other device.
    public func cancel() {
        signInTask?.cancel()
    }

    /// Waits until the server has processed a cancelled sign-in. Returns early when its task is cancelled.
    public func settled() async {
        if case .success(let flow) = flow { await flow.settled() }
        guard let givingBack else { return }
        _ = await withTaskCancellationHandler {
            await givingBack.value
        } onCancel: {
            givingBack.cancel()
        }
    }

    private func tokens(
        by flow: DirectAuthenticationFlow, username: String, password: String, secondFactor: SecondFactor
    ) async throws -> Token {
        var status = try await flow.start(username, with: .password(password))
        do {
            if case .mfaRequired(let context) = status {
                guard secondFactor == .push else { throw SessionError.secondFactorRequired(wording) }
                if let offered = context.supportedChallengeTypes, !offered.contains(.oobMFA) { throw SessionError.noPush(wording) }
                try Task.checkCancellation()
                waiting = .approval
                status = try await flow.resume(with: .oob(channel: .push))
            }
            if case .continuation(.transfer(_, let code)) = status {
                try Task.checkCancellation()
                waiting = .number(code)
                status = try await flow.resume(with: .transfer)
            }
            guard case .success(let token) = status else { throw SessionError.unknownStep(wording) }
            return token
        } catch {
            // The sign-in does not continue, so the server can delete it.
            await flow.reset()
            throw error
        }
    }

    // MARK: - The session

    /// Refreshes the tokens if they have expired or expire soon. Does nothing if no user is signed in.
    ///
    /// - Throws: ``SessionError`` if the session has ended; its tokens are then removed. Other errors of the refresh; the old tokens are
    ///   then kept.
    public func refreshIfNeeded() async throws {
        try await refresh { try await $0.refreshIfNeeded() }
    }

    /// Refreshes the tokens now. Does nothing if no user is signed in.
    ///
    /// - Throws: The errors of ``refreshIfNeeded()``.
    public func refresh() async throws {
        try await refresh { try await $0.refresh() }
    }

    private func refresh(_ body: (Credential) async throws -> Void) async throws {
        guard let credential else { return }
        do {
            try await body(credential)
            note(.refreshed(credential))
        } catch {
            guard case .ended = credential.sessionState else { throw error }
            forget(credential)
            throw SessionError.sessionEnded(wording)
        }
    }

    /// Returns the user's profile, which is fetched once. Refreshes the tokens first if necessary.
    ///
    /// - Returns: The profile; `nil` if no user is signed in.
    /// - Throws: Errors of the refresh, of the network and of the server.
    public func userInfo() async throws -> UserInfo? {
        if let known: UserInfo = credential?.userInfo { return known }
        try await refreshIfNeeded()
        return try await credential?.userInfo()
    }

    /// Signs out. The tokens are removed from this device even if the server is not reachable. The revocation is then repeated later.
    ///
    /// - Throws: Errors of the storage if the tokens could not be removed; the user then stays signed in.
    public func signOut() async throws {
        cancel()
        hasEnded = false
        guard let credential else { return }
        do {
            try await credential.revoke()
        } catch {
            // The SDK stores the revocation and sends it later.
            if try Credential.with(id: credential.id) != nil { throw error }
        }
        if self.credential === credential { use(nil) }
    }

    private func use(_ credential: Credential?) {
        self.credential = credential
        token = credential?.token
        if refreshesByItself, credential?.token.refreshToken != nil { credential?.automaticRefresh = true }
    }

    private func forget(_ credential: Credential) {
        hasEnded = true
        // The server rejects these tokens. If they cannot be deleted, the server rejects them again at the next launch.
        try? credential.remove()
        use(nil)
    }

    private func note(_ event: Credential.Event) {
        switch event {
        case .refreshed(let refreshed) where refreshed.id == credential?.id: token = refreshed.token
        case .removed(let removed) where removed.id == credential?.id: use(nil)
        case .sessionEnded(let ended, _) where ended.id == credential?.id: forget(ended)
        default: break
        }
    }
}
