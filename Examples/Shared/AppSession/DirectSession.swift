public import AuthFoundation
public import Foundation
public import Observation
internal import OktaDirectAuth
internal import Wording

/// Signing in without a browser, and the session that it gives: what the apps with a password have in common. An app that wants a second
/// factor later changes one argument of ``signIn(username:password:secondFactor:)``.
///
/// The tokens are where ``Credential`` keeps them; ``token`` follows every change there, whoever made it: a refresh by a button, one that
/// happens by itself, a sign-out elsewhere in the app.
@MainActor
@Observable
public final class DirectSession {
    /// The step on another device that the sign-in waits for.
    public enum Waiting: Equatable, Sendable {
        /// An approval.
        case approval
        /// That number to be picked.
        case number(String)
    }

    /// Whether a second factor can be given.
    public enum SecondFactor: Sendable {
        /// None: a server that asks for one is told so.
        case none
        /// An approval of a push on another device.
        case push
    }

    /// The tokens of the signed-in user; `nil` without one.
    public private(set) var token: Token?
    /// The step that the running sign-in waits for; `nil` for none.
    public private(set) var waiting: Waiting?
    /// Whether the server said that the session has ended; until the next sign-in.
    public private(set) var hasEnded = false

    /// The message after the end of the session.
    public var endedMessage: String { SessionError.sessionEnded(wording).localizedDescription }

    @ObservationIgnored private let flow: Result<DirectAuthenticationFlow, any Error>
    @ObservationIgnored private let refreshesByItself: Bool
    @ObservationIgnored private let wording: Wording
    @ObservationIgnored private var credential: Credential?
    @ObservationIgnored private var signInTask: Task<Token, any Error>?
    /// Revokes tokens that arrived after the cancellation.
    @ObservationIgnored private var givingBack: Task<Void?, Never>?
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Finds the session of the last time.
    ///
    /// - Parameters:
    ///   - refreshesByItself: Whether the tokens are refreshed some time before they end.
    ///   - language: The language of its messages; nil for that of the person.
    ///   - client: Makes the client. What it throws is thrown by the sign-in.
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

    /// The time, by the server's clock as far as its answers have told it.
    public var now: Date { credential?.oauth2.now ?? (try? flow.get())?.client.now ?? .now }

    // MARK: - Signing in

    /// Signs in, and stores the tokens as the default credential. Returns when that is done, however long a person takes to approve.
    ///
    /// - Parameters:
    ///   - username: Who.
    ///   - password: Their password.
    ///   - secondFactor: What the app can go on with if the password is not enough.
    /// - Throws: ``SessionError``, what the client's settings, the flow and the storage throw; `CancellationError` after ``cancel()``.
    public func signIn(username: String, password: String, secondFactor: SecondFactor) async throws {
        let flow = try flow.get()
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
            // The token arrived while the user cancelled, and must not be used.
            givingBack = Task { try? await flow.client.revoke(tokens, type: .all) }
            throw CancellationError()
        }
        let credential = try Credential.store(tokens)
        try Credential.setDefault(credential)
        use(credential)
    }

    /// Gives the sign-in under way up: nobody is signed in by it any more, whatever is approved later, and the server withdraws its request
    /// from the other device.
    public func cancel() {
        signInTask?.cancel()
    }

    /// Waits until the server knows of a sign-in that was given up. Ends when its task is cancelled.
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
            // The sign-in does not continue, so the server need not keep it.
            await flow.reset()
            throw error
        }
    }

    // MARK: - The session

    /// Refreshes the tokens if they have ended or will soon.
    ///
    /// - Throws: ``SessionError`` if the server says that the session has ended, which is forgotten then; other errors of the refresh, after
    ///   which the old tokens are still there. Nothing happens if nobody is signed in.
    public func refreshIfNeeded() async throws {
        try await refresh { try await $0.refreshIfNeeded() }
    }

    /// Refreshes the tokens now.
    ///
    /// - Throws: As ``refreshIfNeeded()`` does.
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

    /// The person's profile: the one that was fetched before, else fetched now, with fresh tokens if need be.
    ///
    /// - Returns: The profile; `nil` if no user is signed in.
    /// - Throws: Errors of the refresh, of the network and of the server.
    public func userInfo() async throws -> UserInfo? {
        if let known: UserInfo = credential?.userInfo { return known }
        try await refreshIfNeeded()
        return try await credential?.userInfo()
    }

    /// Signs out. The tokens are gone here also if the server can't be reached; it is told as soon as it can be.
    ///
    /// - Throws: Errors of the storage, if the tokens could not be removed from it; then the person is still signed in.
    public func signOut() async throws {
        cancel()
        hasEnded = false
        guard let credential else { return }
        do {
            try await credential.revoke()
        } catch {
            // What the server was not told is kept by the SDK, and delivered later.
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
        // The server takes these tokens no more; what can't be deleted is refused by it at the next launch again.
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
