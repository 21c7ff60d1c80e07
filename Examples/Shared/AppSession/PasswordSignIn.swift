public import AuthFoundation
public import CountersignUI
public import Foundation

/// A failed sign-in, with a text for the user.
public struct SessionError: LocalizedError, Equatable, Sendable {
    /// The kind of the problem, for programs.
    public let code: SignInProblem.Code
    /// What happened, and what to do.
    public let errorDescription: String?
}

// The password apps share these functions. An app adds a second factor by changing the options of its session.
extension SignInSession {
    /// The current time by the server's clock; without a user, by this device's clock.
    public var now: Date { credential?.oauth2.now ?? .now }

    /// Signs in with a password and, if the server requires it, the second factor of the options. Returns after the user's approval,
    /// however long it takes.
    ///
    /// - Parameter texts: The messages of problems.
    /// - Throws: ``SessionError``; `CancellationError` if the sign-in was cancelled.
    public func signIn(username: String, password: String, texts: SignInTexts) async throws {
        // The device was locked when the app started, so the stored session is read now.
        if state == .locked { await activate() }
        (form.userName, form.password) = (username, password)
        await submit()
        let problem = problem
        // The apps have no list of factors, so a sign-in that stopped there has failed.
        if case .signingIn(let step) = state, step.kind == .factors { cancel() }
        form = SignInForm()
        guard !isSignedIn else { return }
        guard let problem else { throw CancellationError() }
        let text = texts.message(for: problem)
        guard problem.code == .misconfigured, let reason = problem.underlying else {
            throw SessionError(code: problem.code, errorDescription: text)
        }
        // The reason is in English, for the developer who starts the app without settings.
        throw SessionError(code: problem.code, errorDescription: "\(text) \(String(reflecting: reason))")
    }

    /// Refreshes the tokens. Does nothing if no user is signed in.
    ///
    /// - Parameters:
    ///   - isNeeded: Whether to refresh only if the tokens have expired or expire soon.
    ///   - texts: The message of an ended session.
    /// - Throws: ``SessionError`` if the session has ended; its tokens are then removed. Other errors of the refresh; the old tokens are
    ///   then kept.
    public func refresh(ifNeeded isNeeded: Bool = false, texts: SignInTexts) async throws {
        guard let credential else { return }
        do {
            if isNeeded { try await credential.refreshIfNeeded() } else { try await credential.refresh() }
        } catch {
            guard case .ended = credential.sessionState else { throw error }
            // The server rejects these tokens. If they cannot be deleted, the server rejects them again at the next launch.
            try? credential.remove()
            await activate()
            throw SessionError(code: .tooLate, errorDescription: texts.sessionEnded)
        }
    }

    /// Returns the user's profile, which is fetched once. Refreshes the tokens first if necessary.
    ///
    /// - Returns: The profile; `nil` if no user is signed in.
    /// - Throws: The errors of ``refresh(ifNeeded:texts:)``, of the network and of the server.
    public func userInfo(texts: SignInTexts) async throws -> UserInfo? {
        if let known: UserInfo = credential?.userInfo { return known }
        try await refresh(ifNeeded: true, texts: texts)
        return try await credential?.userInfo()
    }

    /// Signs out, as ``signOut(endsBrowserSession:)`` does.
    ///
    /// - Throws: Errors of the storage if the tokens could not be removed; the user then stays signed in.
    public func endSession() async throws {
        await signOut()
        if isSignedIn, let failure = problem?.underlying { throw failure }
    }
}
