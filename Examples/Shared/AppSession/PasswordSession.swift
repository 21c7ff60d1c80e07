public import AuthFoundation
public import CountersignUI
public import Foundation
public import Observation

/// A failed sign-in or an ended session, with a text for the user.
public struct SessionError: LocalizedError, Equatable, Sendable {
    /// The kind of the problem, for programs.
    public let code: SignInProblem.Code
    /// The text for the user: the reason, and the next step.
    public let errorDescription: String?
}

/// A `SignInSession` for apps with screens of their own, which show one text for each failure. The password apps share it.
@MainActor
@Observable
public final class PasswordSession {
    private let session: SignInSession
    private let texts: SignInTexts
    private var problem: String?
    /// The number of sign-ins and cancellations. The failure of an earlier sign-in is ignored.
    @ObservationIgnored private var number = 0

    /// Creates a session that restores the session of the previous run.
    ///
    /// - Parameters:
    ///   - client: The client, or the error of its settings, which each sign-in reports.
    ///   - secondFactors: The second factors that the app supports; at most one, because the apps have no list of factors.
    ///   - refreshesAutomatically: Whether the tokens are refreshed automatically before they expire.
    ///   - texts: The messages of failures.
    public init(
        client: Result<OAuth2Client, any Error>, secondFactors: [SignInFactor], refreshesAutomatically: Bool, texts: SignInTexts
    ) {
        let options = SignInOptions(
            methods: [.password], secondFactors: secondFactors, refreshesAutomatically: refreshesAutomatically)
        session = SignInSession(client: client, options: options)
        self.texts = texts
    }

    /// The step of the sign-in in progress; `nil` for none.
    public var step: SignInStep? { if case .signingIn(let step) = session.state { step } else { nil } }

    /// The reason why the last sign-in failed, or why the session has ended; `nil` for none.
    public var failure: String? { problem ?? (session.state == .expired ? texts.sessionEnded : nil) }

    /// The tokens of the signed-in user; `nil` without a user.
    public var token: Token? { step == nil && failure == nil ? session.credential?.token : nil }

    /// The current time by the server's clock; without a user, by this device's clock.
    public var now: Date { session.credential?.oauth2.now ?? .now }

    // MARK: - Signing in

    /// Signs in. Returns after the user's approval, however long it takes.
    ///
    /// - Throws: ``SessionError``, whose text is then ``failure``; `CancellationError` after ``cancel()``.
    public func signIn(username: String, password: String) async throws {
        cancel()
        let mine = number
        // The device was locked when the app started, so the stored session is read now.
        if session.state == .locked { await session.activate() }
        (session.form.userName, session.form.password) = (username, password)
        await session.submit()
        guard mine == number else { throw CancellationError() }
        let reason = session.problem
        // A sign-in that stopped at the list of factors has failed.
        session.cancel()
        session.form = SignInForm()
        guard !session.isSignedIn else { return }
        guard let reason else { throw CancellationError() }
        var text = texts.message(for: reason)
        // The cause is in English, for the developer who starts the app without settings.
        if reason.code == .misconfigured, let cause = reason.underlying { text += " \(String(reflecting: cause))" }
        problem = text
        throw SessionError(code: reason.code, errorDescription: text)
    }

    /// Cancels the sign-in in progress at once, and removes ``failure``. A later approval has no effect.
    public func cancel() {
        number += 1
        problem = nil
        session.cancel()
    }

    /// Waits until the server has processed a cancelled sign-in.
    public func settled() async { await session.settled() }

    // MARK: - The session

    /// Refreshes the tokens. Does nothing if no user is signed in.
    ///
    /// - Parameter isNeeded: Whether to refresh only if the tokens have expired or expire soon.
    /// - Throws: ``SessionError`` if the session has ended; its tokens are then removed, and its text is ``failure``. Other errors of the
    ///   refresh; the old tokens are then kept.
    public func refresh(ifNeeded isNeeded: Bool = false) async throws {
        guard let credential = session.credential else { return }
        do {
            if isNeeded { try await credential.refreshIfNeeded() } else { try await credential.refresh() }
        } catch {
            guard case .ended = credential.sessionState else { throw error }
            problem = texts.sessionEnded
            // The server rejects these tokens. If they cannot be deleted, the server rejects them again at the next launch.
            try? credential.remove()
            await session.activate()
            throw SessionError(code: .tooLate, errorDescription: texts.sessionEnded)
        }
    }

    /// Returns the user's profile, which is fetched once. Refreshes the tokens first if necessary.
    ///
    /// - Returns: The profile; `nil` if no user is signed in.
    /// - Throws: The errors of ``refresh(ifNeeded:)``, of the network and of the server.
    public func userInfo() async throws -> UserInfo? {
        if let known: UserInfo = session.credential?.userInfo { return known }
        try await refresh(ifNeeded: true)
        return try await session.credential?.userInfo()
    }

    /// Signs out. The tokens are removed from this device even if the server is not reachable. The revocation is then sent later.
    ///
    /// - Throws: Errors of the storage if the tokens could not be removed; the user then stays signed in.
    public func signOut() async throws {
        cancel()
        await session.signOut()
        if session.isSignedIn, let failure = session.problem?.underlying { throw failure }
    }
}
