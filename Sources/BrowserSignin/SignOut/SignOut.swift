public import AuthFoundation
public import Foundation
public import OAuth2Auth

extension BrowserSignin {
    /// Ends the server session of a credential. The tokens stay valid and the credential stays stored. To also revoke the tokens and remove
    /// the credential, use ``signOut(from:credential:ending:context:)``.
    /// - Parameters:
    ///   - window: The window for the browser session, or `nil` to let the system choose.
    ///   - credential: The credential, or `nil` to end the browser's session.
    ///   - context: The parameters of this sign-out.
    /// - Returns: The redirect URL.
    /// - Throws: The errors of ``signOut(from:context:)``.
    @discardableResult
    public func signOut(
        from window: WindowAnchor? = nil, credential: Credential?, context: SessionLogoutFlow.Context = .init()
    ) async throws -> URL {
        try await signOut(from: window, token: credential?.token, context: context)
    }

    /// Ends the server session to which the tokens belong.
    /// - Parameters:
    ///   - window: The window for the browser session, or `nil` to let the system choose.
    ///   - token: The tokens, whose ID token names the session, or `nil` to end the browser's session.
    ///   - context: The parameters of this sign-out.
    /// - Returns: The redirect URL.
    /// - Throws: The errors of ``signOut(from:context:)``.
    @discardableResult
    public func signOut(
        from window: WindowAnchor? = nil, token: Token?, context: SessionLogoutFlow.Context = .init()
    ) async throws -> URL {
        var context = context
        context.idToken = token?.idToken?.rawValue ?? context.idToken
        return try await signOut(from: window, context: context)
    }

    /// Ends a session at the server. If the last sign-in used ``Option/ephemeralSession`` in the system's web authentication session, no
    /// browser has the session. The request then goes directly to the server and no browser is shown. In all other cases a browser is
    /// shown, regardless of the ``options``.
    /// - Parameters:
    ///   - window: The window for the browser session, or `nil` to let the system choose.
    ///   - context: The parameters of this sign-out.
    /// - Returns: The redirect URL, also if no browser was shown.
    /// - Throws:
    ///   - ``BrowserSigninError/noSignOutFlowProvided`` if the settings have no logout redirect URI; other ``BrowserSigninError`` values if
    ///     the browser session fails or the user closes it (``BrowserSigninError/userCancelledLogin(_:)``).
    ///   - `OAuth2Error.missingOpenIdConfiguration(attribute:)` if the server does not support sign-out;
    ///     `OAuth2Error.redirectUri(_:reason:)` if the redirect belongs to another sign-out.
    ///   - `OAuth2Error.missingLocationHeader` if no browser was shown and the server wants to ask the user.
    ///   - `OAuth2ServerError` if the server rejects the request; `APIClientError` if it is unreachable; `CancellationError`.
    @discardableResult
    public func signOut(from window: WindowAnchor?, context: SessionLogoutFlow.Context = .init()) async throws -> URL {
        guard let flow = signOutFlow, let registered = flow.client.configuration.logoutRedirectUri else {
            throw BrowserSigninError.noSignOutFlowProvided
        }
        return try await attempt(from: window) {
            await flow.cancel()
        } _: { provider in
            var context = context
            if let listening = provider as? any ListeningProvider {
                context.redirectUri = try await BrowserSession(provider: listening).listen(for: registered) { flow.context?.state }
            }
            let redirectUri = context.redirectUri ?? registered
            let page = try await flow.start(with: context)
            guard wasLastSignInEphemeral, provider is any ForgettingProvider else {
                let redirect = try await BrowserSession(provider: provider).open(page, redirectUri: redirectUri)
                try await flow.resume(with: redirect)
                return redirect
            }
            guard let redirect = try await SilentNavigation(client: flow.client).redirect(from: page, to: redirectUri) else {
                // The server wants the user's confirmation, so the session has not ended.
                throw OAuth2Error.missingLocationHeader
            }
            try await flow.resume(with: redirect)
            return redirect
        }
    }

    /// Ends the server session of a credential.
    /// - Parameters:
    ///   - window: The window for the browser session, or `nil` to let the system choose.
    ///   - credential: The credential, or `nil` to end the browser's session.
    ///   - context: The parameters of this sign-out.
    ///   - completion: Called once, on the main actor.
    public func signOut(
        from window: WindowAnchor?, credential: Credential? = .default, context: SessionLogoutFlow.Context = .init(),
        completion: @escaping (Result<URL, BrowserSigninError>) -> Void
    ) {
        run(completion) { try await self.signOut(from: window, credential: credential, context: context) }
    }

    /// Ends the server session to which the tokens belong.
    /// - Parameters:
    ///   - window: The window for the browser session, or `nil` to let the system choose.
    ///   - token: The tokens, whose ID token names the session.
    ///   - context: The parameters of this sign-out.
    ///   - completion: Called once, on the main actor.
    public func signOut(
        from window: WindowAnchor?, token: Token, context: SessionLogoutFlow.Context = .init(),
        completion: @escaping (Result<URL, BrowserSigninError>) -> Void
    ) {
        run(completion) { try await self.signOut(from: window, token: token, context: context) }
    }

    /// Ends a session at the server.
    /// - Parameters:
    ///   - window: The window for the browser session, or `nil` to let the system choose.
    ///   - context: The parameters of this sign-out.
    ///   - completion: Called once, on the main actor.
    public func signOut(
        from window: WindowAnchor?, context: SessionLogoutFlow.Context = .init(),
        completion: @escaping (Result<URL, BrowserSigninError>) -> Void
    ) {
        run(completion) { try await self.signOut(from: window, context: context) }
    }
}

extension BrowserSignin {
    /// The parts of a sign-out.
    public struct SignOutSteps: OptionSet, Sendable {
        /// The steps as a bit set.
        public let rawValue: Int

        /// Ends the session at the server, so that the next sign-in asks for the credentials.
        public static let session = SignOutSteps(rawValue: 1 << 0)
        /// Revokes the tokens with `Credential.revoke(type:)` and removes the stored credential, even if the server rejects the revocation.
        public static let tokens = SignOutSteps(rawValue: 1 << 1)
        /// Both steps.
        public static let all: SignOutSteps = [.session, .tokens]

        /// Creates steps from a bit set.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    /// The result of each step of a sign-out.
    public struct SignOutReport: Sendable {
        /// The result of one step.
        public enum Outcome: Sendable {
            /// The step succeeded.
            case done
            /// The step was not requested. Or the sign-out stopped before this step, because the user closed the browser session or the
            /// task was cancelled.
            case skipped
            /// The step failed.
            case failed(any Error)

            /// Whether the step succeeded.
            public var isDone: Bool {
                if case .done = self { true } else { false }
            }
        }

        /// The result for the session at the server.
        public var session: Outcome = .skipped

        /// The result for the tokens. If the credential is locked at the call and stays locked, this is the failure
        /// `CredentialLockedError`, and the credential stays stored. If the server was unreachable, the credential is removed locally and the
        /// revocation is sent later; see `Credential.deliverPendingRevocations()`.
        public var tokens: Outcome = .skipped

        /// The first failure, in the order of the steps; `nil` if no step failed.
        public var failure: (any Error)? {
            for case .failed(let error) in [session, tokens] { return error }
            return nil
        }
    }

    /// Ends the session at the server, then revokes the tokens, and reports the result of each step. If a step fails, the next step still
    /// runs. Exception: if the user closes the browser session or the task is cancelled, the sign-out stops.
    /// - Parameters:
    ///   - window: The window for the browser session, or `nil` to let the system choose.
    ///   - credential: The credential to sign out.
    ///   - steps: The steps to run.
    ///   - context: The parameters of this sign-out.
    public func signOut(
        from window: WindowAnchor? = nil, credential: Credential, ending steps: SignOutSteps, context: SessionLogoutFlow.Context = .init()
    ) async -> SignOutReport {
        var report = SignOutReport()
        // Read before the browser is shown: the credential can be locked while the user is in the browser or in another app.
        let known = try? credential.unlockedToken()
        if steps.contains(.session) {
            do {
                try await signOut(from: window, credential: credential, context: context)
                report.session = .done
            } catch {
                report.session = .failed(error)
                if error.isGivingUp { return report }
            }
        }
        if steps.contains(.tokens) {
            do {
                if let known { try await credential.revoke(known: known) } else { try await credential.revoke() }
                report.tokens = .done
            } catch {
                report.tokens = .failed(error)
            }
        }
        return report
    }
}

extension Error {
    /// Whether the user or the app cancelled the operation.
    fileprivate var isGivingUp: Bool {
        if case .userCancelledLogin? = self as? BrowserSigninError { return true }
        return self is CancellationError
    }
}
