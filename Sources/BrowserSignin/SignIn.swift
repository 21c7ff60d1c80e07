public import AuthFoundation
internal import Foundation
public import OAuth2Auth

extension BrowserSignin {
    /// Signs the user in and returns validated tokens. The tokens are not stored; see `Credential.store(_:tags:security:)`.
    /// - Parameters:
    ///   - window: The window for the browser session, or `nil` to let the system choose.
    ///   - context: The parameters of this sign-in.
    /// - Throws:
    ///   - ``BrowserSigninError`` if the browser session fails or the user closes it (``BrowserSigninError/userCancelledLogin(_:)``).
    ///   - `OAuth2Error.redirectUriRequired` if the settings have no redirect URI; `OAuth2Error.redirectUri(_:reason:)` if the redirect
    ///     belongs to another sign-in.
    ///   - `OAuth2ServerError` if the server rejects the request; `AuthorizationIssuerError` if another server sent the response.
    ///   - `JWTError` if the ID token is invalid.
    ///   - `StepUpError` if the context answers a step-up challenge and the tokens do not meet it.
    ///   - Other errors of `AuthorizationCodeFlow`, such as `APIClientError`; `CancellationError`.
    public func signIn(from window: WindowAnchor? = nil, context: AuthorizationCodeFlow.Context = .init()) async throws -> Token {
        let flow = signInFlow
        guard let registered = flow.client.configuration.redirectUri else { throw OAuth2Error.redirectUriRequired }
        let isEphemeral = ephemeralSession
        return try await attempt(from: window) {
            await flow.reset()
        } late: {
            flow.client.discard($0)
        } _: { provider in
            var context = context
            if let listening = provider as? any ListeningProvider {
                context.redirectUri = try await BrowserSession(provider: listening).listen(for: registered) { flow.context?.state }
                if isEphemeral { context.askForCredentials() }
            }
            let redirectUri = context.redirectUri ?? registered
            let page = try await flow.start(with: context)
            let redirect = try await BrowserSession(provider: provider).open(page, redirectUri: redirectUri)
            let token = try await flow.resume(with: redirect)
            wasLastSignInEphemeral = (provider as? any ForgettingProvider)?.isEphemeral == true
            return token
        }
    }

    /// Signs the user in.
    /// - Parameters:
    ///   - window: The window for the browser session, or `nil` to let the system choose.
    ///   - context: The parameters of this sign-in.
    ///   - completion: Called once, on the main actor.
    public func signIn(
        from window: WindowAnchor?, context: AuthorizationCodeFlow.Context = .init(),
        completion: @escaping (Result<Token, BrowserSigninError>) -> Void
    ) {
        run(completion) { try await self.signIn(from: window, context: context) }
    }

    /// Runs an async call and passes its result to a completion handler on the main actor.
    func run<Value: Sendable>(
        _ completion: @escaping (Result<Value, BrowserSigninError>) -> Void, _ call: @escaping @MainActor () async throws -> Value
    ) {
        Task { @MainActor in
            let result: Result<Value, BrowserSigninError>
            do { result = .success(try await call()) } catch { result = .failure(BrowserSigninError(error)) }
            completion(result)
        }
    }
}

extension AuthorizationCodeFlow.Context {
    /// Requires the credentials even if a session exists, unless the request forbids any prompt (`prompt=none`).
    fileprivate mutating func askForCredentials() {
        switch prompt {
        case nil: prompt = .login
        case .consent: prompt = .loginAndConsent
        case .none?, .login, .loginAndConsent: break
        }
    }
}

/// A wrapper of a provider: converts the provider's errors to ``BrowserSigninError``, and closes the provider if the task is cancelled.
struct BrowserSession: Sendable {
    let provider: any BrowserSignin.Provider

    func open(_ page: URL, redirectUri: URL) async throws -> URL {
        try await telling {
            try await withTaskCancellationHandler {
                try await provider.open(authorizeUrl: page, redirectUri: redirectUri)
            } onCancel: {
                provider.cancel()
            }
        }
    }

    fileprivate func telling<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch {
            // The provider was closed because the task was cancelled.
            try Task.checkCancellation()
            if error is BrowserSigninError || error is CancellationError { throw error }
            throw BrowserSigninError.authenticationProvider(error: error)
        }
    }
}

extension BrowserSession {
    /// Makes a listening provider wait for the redirect with the flow's `state`. The flow sets its state when it starts.
    func listen(for redirectUri: URL, state: @escaping @Sendable () -> String?) async throws -> URL? {
        guard let listening = provider as? any BrowserSignin.ListeningProvider else { return nil }
        return try await telling {
            try await listening.listen(for: redirectUri) { url in
                let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
                let states = items.filter { $0.name == "state" }
                guard states.count == 1, let found = states[0].value, let expected = state() else { return false }
                return found == expected
            }
        }
    }
}
