public import AuthFoundation
internal import Foundation
public import OAuth2Auth

extension BrowserSignin {
    /// Signs a person in.
    ///
    /// Nothing is stored; see `Credential.store(_:tags:security:)`.
    ///
    /// - Parameters:
    ///   - window: Where the browser session is shown; nil for wherever there is place.
    ///   - context: What the sign-in asks for.
    /// - Returns: The tokens, validated.
    /// - Throws: ``BrowserSigninError`` of the browser session, among them ``BrowserSigninError/userCancelledLogin(_:)``; what
    ///   `AuthorizationCodeFlow` throws at its start, such as `APIClientError`, and after the browser's return: `OAuth2ServerError` if the
    ///   server refused, `OAuth2Error.redirectUri(_:reason:)` for another sign-in's redirect, `AuthorizationIssuerError` for another server's,
    ///   `JWTError` for an ID token that is not acceptable; `OAuth2Error.redirectUriRequired` without redirect URI; or `CancellationError`.
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
                context.redirectUri = try await BrowserSession(listening).listen(for: registered) { flow.context?.state }
                if isEphemeral { context.askForCredentials() }
            }
            let redirectUri = context.redirectUri ?? registered
            let page = try await flow.start(with: context)
            let redirect = try await BrowserSession(provider).open(page, redirectUri: redirectUri)
            let token = try await flow.resume(with: redirect)
            wasLastSignInEphemeral = (provider as? any ForgettingProvider)?.isEphemeral == true
            return token
        }
    }

    /// Signs a person in.
    ///
    /// - Parameters:
    ///   - window: Where the browser session is shown; nil for wherever there is place.
    ///   - context: What the sign-in asks for.
    ///   - completion: Is called once, on the main actor.
    public func signIn(
        from window: WindowAnchor?, context: AuthorizationCodeFlow.Context = .init(),
        completion: @escaping (Result<Token, BrowserSigninError>) -> Void
    ) {
        run(completion) { try await self.signIn(from: window, context: context) }
    }

    /// Runs a call for somebody who wants to be called back.
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
    /// Asks for the credentials whatever session there is, unless nothing may be asked at all.
    fileprivate mutating func askForCredentials() {
        switch prompt {
        case nil: prompt = .login
        case .consent: prompt = .loginAndConsent
        case .none?, .login, .loginAndConsent: break
        }
    }
}

/// A provider at work: its errors are told as those of the browser session, and cancelling the task closes it.
struct BrowserSession: Sendable {
    private let provider: any BrowserSignin.Provider

    init(_ provider: any BrowserSignin.Provider) {
        self.provider = provider
    }

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
            // Closed because the task was cancelled.
            try Task.checkCancellation()
            if error is BrowserSigninError || error is CancellationError { throw error }
            throw BrowserSigninError.authenticationProvider(error: error)
        }
    }
}

extension BrowserSession {
    /// Lets a provider listen for the redirect that has the state of the flow, which it gets at its start.
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
