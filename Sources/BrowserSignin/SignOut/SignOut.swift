public import AuthFoundation
public import Foundation
public import OAuth2Auth

extension BrowserSignin {
    /// Ends a credential's session at the server.
    ///
    /// Tokens stay good and the credential stays stored: see ``signOut(from:credential:ending:context:)`` for all of it.
    ///
    /// - Parameters:
    ///   - window: Where the browser session is shown; nil for wherever there is place.
    ///   - credential: Whose session; nil to leave it to the browser's.
    ///   - context: What the sign-out asks for.
    /// - Returns: The URL that the browser was sent to.
    /// - Throws: As ``signOut(from:context:)``.
    @discardableResult
    public func signOut(
        from window: WindowAnchor? = nil, credential: Credential?, context: SessionLogoutFlow.Context = .init()
    ) async throws -> URL {
        try await signOut(from: window, token: credential?.token, context: context)
    }

    /// Ends the session that tokens belong to at the server.
    ///
    /// - Parameters:
    ///   - window: Where the browser session is shown; nil for wherever there is place.
    ///   - token: The tokens, whose ID token names the session; nil to leave it to the browser's.
    ///   - context: What the sign-out asks for.
    /// - Returns: The URL that the browser was sent to.
    /// - Throws: As ``signOut(from:context:)``.
    @discardableResult
    public func signOut(
        from window: WindowAnchor? = nil, token: Token?, context: SessionLogoutFlow.Context = .init()
    ) async throws -> URL {
        var context = context
        context.idToken = token?.idToken?.rawValue ?? context.idToken
        return try await signOut(from: window, context: context)
    }

    /// Ends a session at the server.
    ///
    /// If the last sign-in here was one with ``Option/ephemeralSession`` in the system's sheet, no browser is shown, because none has the
    /// session: the server alone is told. With any other browser, one is shown whatever the ``options`` are.
    ///
    /// - Parameters:
    ///   - window: Where the browser session is shown; nil for wherever there is place.
    ///   - context: What the sign-out asks for.
    /// - Returns: The URL that the browser was sent to. If none was shown, the one that it would have been sent to.
    /// - Throws: ``BrowserSigninError/noSignOutFlowProvided`` without logout redirect URI; other ``BrowserSigninError`` of the browser
    ///   session, among them ``BrowserSigninError/userCancelledLogin(_:)``; `OAuth2Error.missingOpenIdConfiguration(attribute:)` if the server
    ///   does not offer it; `OAuth2Error.missingLocationHeader` if no browser was shown and the server wants to ask the person;
    ///   `OAuth2Error.redirectUri(_:reason:)` for another sign-out's redirect; `OAuth2ServerError` if the server refused;
    ///   `APIClientError` if it is not reached; or `CancellationError`.
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
                context.redirectUri = try await BrowserSession(listening).listen(for: registered) { flow.context?.state }
            }
            let redirectUri = context.redirectUri ?? registered
            let page = try await flow.start(with: context)
            guard wasLastSignInEphemeral, provider is any ForgettingProvider else {
                let redirect = try await BrowserSession(provider).open(page, redirectUri: redirectUri)
                try await flow.resume(with: redirect)
                return redirect
            }
            guard let redirect = try await SilentNavigation(client: flow.client).redirect(from: page, to: redirectUri) else {
                // The server would ask the person whether to end the session, so it has not ended.
                throw OAuth2Error.missingLocationHeader
            }
            try await flow.resume(with: redirect)
            return redirect
        }
    }

    /// Ends a credential's session at the server.
    ///
    /// - Parameters:
    ///   - window: Where the browser session is shown; nil for wherever there is place.
    ///   - credential: Whose session; nil to leave it to the browser's.
    ///   - context: What the sign-out asks for.
    ///   - completion: Is called once, on the main actor.
    public func signOut(
        from window: WindowAnchor?, credential: Credential? = .default, context: SessionLogoutFlow.Context = .init(),
        completion: @escaping (Result<URL, BrowserSigninError>) -> Void
    ) {
        run(completion) { try await self.signOut(from: window, credential: credential, context: context) }
    }

    /// Ends the session that tokens belong to at the server.
    ///
    /// - Parameters:
    ///   - window: Where the browser session is shown; nil for wherever there is place.
    ///   - token: The tokens, whose ID token names the session.
    ///   - context: What the sign-out asks for.
    ///   - completion: Is called once, on the main actor.
    public func signOut(
        from window: WindowAnchor?, token: Token, context: SessionLogoutFlow.Context = .init(),
        completion: @escaping (Result<URL, BrowserSigninError>) -> Void
    ) {
        run(completion) { try await self.signOut(from: window, token: token, context: context) }
    }

    /// Ends a session at the server.
    ///
    /// - Parameters:
    ///   - window: Where the browser session is shown; nil for wherever there is place.
    ///   - context: What the sign-out asks for.
    ///   - completion: Is called once, on the main actor.
    public func signOut(
        from window: WindowAnchor?, context: SessionLogoutFlow.Context = .init(),
        completion: @escaping (Result<URL, BrowserSigninError>) -> Void
    ) {
        run(completion) { try await self.signOut(from: window, context: context) }
    }
}
