import AuthFoundation
public import Foundation

/// A flow that signs a user in without a browser: with a password, a one-time code, an approval on another device, or a passkey. The server
/// can also require a second factor.
///
/// ```swift
/// let flow = try DirectAuthenticationFlow()
/// switch try await flow.start("jane.doe@example.com", with: .password(password)) {
/// case .success(let token): try Credential.store(token)
/// case .mfaRequired: break      // continue with resume(with:)
/// case .continuation: break     // continue with resume(with:)
/// }
/// ```
/// A flow can run any number of sign-ins, one at a time. A new call supersedes the running call, which fails with
/// ``DirectAuthenticationFlowError/inconsistentContextState``.
/// Cancelling a call's task cancels the sign-in, and so do ``reset()`` and another ``start(_:with:context:)``. The call ends at once. A
/// later approval on another device has no effect, and tokens that arrive later are revoked. In the background, the flow revokes the open
/// `mfa_token` or `oob_code`, so that the server can withdraw its request on the other device. The result of this revocation is ignored.
public actor DirectAuthenticationFlow: AuthenticationFlow, OAuth2ClientDelegate {
    /// The type of the flow's delegates.
    public typealias Delegate = DirectAuthenticationFlowDelegate

    /// The client that signs in.
    nonisolated public let client: OAuth2Client

    /// The grant types that the app supports. They are sent to the server.
    nonisolated public let supportedGrantTypes: [GrantType]

    /// Additional parameters for every sign-in.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// The flow's delegates.
    nonisolated public let delegateCollection = DelegateCollection<any DirectAuthenticationFlowDelegate>()

    nonisolated private let state = Locked(SignInState())
    nonisolated private let background = BackgroundWork()

    /// The context and the status of the current sign-in; `nil` if there is none.
    nonisolated public var context: Context? { state.withLock { $0.context } }

    /// Whether a sign-in is in progress.
    nonisolated public var isAuthenticating: Bool { state.withLock { $0.isAuthenticating } }

    /// Creates a flow and its client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The requested scopes.
    ///   - grantTypes: The grant types that the app supports.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, supportedGrants grantTypes: [GrantType] = .directAuth,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), supportedGrants: grantTypes,
            additionalParameters: additionalParameters)
    }

    /// Creates a flow and its client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The requested scopes.
    ///   - grantTypes: The grant types that the app supports.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, supportedGrants grantTypes: [GrantType] = .directAuth,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), supportedGrants: grantTypes,
            additionalParameters: additionalParameters)
    }

    /// Creates a flow for a client.
    /// - Parameters:
    ///   - grantTypes: The grant types that the app supports.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        client: OAuth2Client, supportedGrants grantTypes: [GrantType] = .directAuth,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        SDKVersion.register(.directAuth, version: SDKVersion.current)
        self.client = client
        supportedGrantTypes = grantTypes
        self.additionalParameters = additionalParameters
        client.add(delegate: self)
    }

    /// Creates a flow that supports every grant type of direct authentication. Never throws an error.
    /// - Parameter additionalParameters: Additional parameters for every sign-in.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]?) throws {
        self.init(client: client, supportedGrants: .directAuth, additionalParameters: additionalParameters)
    }

    /// Starts a sign-in with a first factor.
    /// If an error is thrown, the sign-in has ended.
    /// - Parameter loginHint: The username.
    /// - Returns: The tokens, or the required next step. Continue with ``resume(with:)-(DirectAuthenticationFlow.SecondaryFactor)`` or
    ///   ``resume(with:)-(DirectAuthenticationFlow.ContinuationFactor)``.
    /// - Throws: `APIClientError` if the server returns an error or is unreachable; `JWTError` if the ID token is invalid; `StepUpError` if
    ///   the context answers a challenge and the tokens do not meet it; ``DirectAuthenticationFlowError``; or `CancellationError`.
    public func start(_ loginHint: String, with factor: PrimaryFactor, context: Context = .init()) async throws -> Status {
        var context = context
        context.currentStatus = nil
        let transaction = OpenTransaction(client: client, background: background)
        let call = FlowCall<Status>(background: background)
        supersede { state in
            let abandoned = state.end()
            state = SignInState(context: context, loginHint: loginHint, isAuthenticating: true, call: call, transaction: transaction)
            return abandoned
        }
        await notify { $0.authenticationStarted(flow: self) }
        do {
            let attempt = attempt(context, transaction)
            return try await run(call, context.stepUp) { try await attempt.primary(factor, loginHint: loginHint) }
        } catch {
            end(call)
            await notifyFailure(error)
            throw error
        }
    }

    /// Continues with a second factor after ``Status/mfaRequired(_:)``, or requests another code or push.
    /// The call can be repeated after an error, except after `CancellationError` and `StepUpError`.
    /// - Returns: The tokens, or the required next step.
    /// - Throws: ``DirectAuthenticationFlowError/flowNotStarted`` if there is no current sign-in;
    ///   ``DirectAuthenticationFlowError/missingArguments(_:)`` if no second factor is required; and the errors of
    ///   ``start(_:with:context:)``.
    public func resume(with factor: SecondaryFactor) async throws -> Status {
        try await resume { try await $0.secondary(factor, loginHint: $1) }
    }

    /// Answers a ``Status/continuation(_:)``.
    /// The call can be repeated after an error, except after `CancellationError` and `StepUpError`.
    /// - Returns: The tokens, or the required next step.
    /// - Throws: ``DirectAuthenticationFlowError/flowNotStarted`` if there is no current sign-in;
    ///   ``DirectAuthenticationFlowError/invalidContinuationContext`` if the factor does not match the continuation; and the errors of
    ///   ``start(_:with:context:)``.
    public func resume(with factor: ContinuationFactor) async throws -> Status {
        try await resume { attempt, _ in try await attempt.continuation(factor) }
    }

    /// Cancels the current sign-in, and revokes the transaction that the server keeps open, if any.
    /// A running call fails at once with ``DirectAuthenticationFlowError/inconsistentContextState``. A later approval on another device has
    /// no effect.
    public func reset() {
        supersede { $0.end() }
    }

    /// Waits until no call and no background revocation is running, for a program that is about to exit. Also returns if the calling task
    /// is cancelled.
    nonisolated public func settled() async {
        await background.settled()
    }

    private func resume(_ step: @escaping @Sendable (SignInAttempt, _ loginHint: String?) async throws -> Status) async throws -> Status {
        let (context, loginHint, transaction) = try state.withLock { state in
            guard let context = state.context, let transaction = state.transaction else {
                throw DirectAuthenticationFlowError.flowNotStarted
            }
            return (context, state.loginHint, transaction)
        }
        let call = FlowCall<Status>(background: background)
        supersede { state in
            state.call = call
            return nil
        }
        do {
            let attempt = attempt(context, transaction)
            return try await run(call, context.stepUp) { try await step(attempt, loginHint) }
        } catch let error where error is CancellationError || error is StepUpError {
            // Cancelling a call cancels the sign-in. Insufficient tokens complete it at the server.
            end(call)
            await notifyFailure(error)
            throw error
        } catch {
            // The sign-in stays open, and the call can be repeated.
            await notify { $0.authentication(flow: self, received: OAuth2Error(error)) }
            throw error
        }
    }

    /// Ends the running call at once.
    /// - Parameter change: Updates the state and returns the transaction to abandon, or `nil` if there is none.
    private func supersede(_ change: (inout SignInState) -> OpenTransaction?) {
        let (call, abandoned) = state.withLock { state in
            let call = state.call
            return (call, change(&state))
        }
        call?.leave(DirectAuthenticationFlowError.inconsistentContextState)
        abandoned?.abandon()
    }

    /// Ends the sign-in, unless the call was superseded.
    private func end(_ call: FlowCall<Status>) {
        state.withLock { $0.end(by: call) }?.abandon()
    }

    private func attempt(_ context: Context, _ transaction: OpenTransaction) -> SignInAttempt {
        SignInAttempt(
            client: client, supportedGrants: supportedGrantTypes, additionalParameters: additionalParameters, context: context,
            transaction: transaction)
    }

    private func run(
        _ call: FlowCall<Status>, _ stepUp: StepUp?, _ work: @escaping @Sendable () async throws -> Status
    ) async throws -> Status {
        let status = try await call.value(of: work) { [client, background] late in
            if case .success(let token) = late { Self.discard(token, of: client, in: background) }
        }
        do {
            if case .success(let token) = status { try stepUp?.check(token) }
            try await conclude(call, with: status)
            return status
        } catch {
            if case .success(let token) = status { Self.discard(token, of: client, in: background) }
            throw error
        }
    }

    /// Stores the status and calls the delegates. Runs on the main actor, like the calls by which apps cancel and reset. After such a call,
    /// even a response that has already arrived cannot complete the sign-in.
    @MainActor private func conclude(_ call: FlowCall<Status>, with status: Status) throws {
        let isCancelled = Task.isCancelled
        try state.withLock { try $0.take(status, of: call, isCancelled: isCancelled) }
        delegateCollection.invoke { delegate in
            delegate.authentication(flow: self, received: status)
            if case .success(let token) = status {
                delegate.authentication(flow: self, received: token)
                delegate.authenticationFinished(flow: self)
            }
        }
    }

    /// Revokes unused tokens in a separate task, because the caller is gone or cancelled.
    private static func discard(_ token: Token, of client: OAuth2Client, in background: BackgroundWork) {
        background.begin {
            // Best effort: no caller is left to receive an error, and the tokens expire.
            try? await client.revoke(token, type: .all)
        }
    }

    private func notifyFailure(_ error: any Error) async {
        await notify { delegate in
            delegate.authentication(flow: self, received: OAuth2Error(error))
            delegate.authenticationFinished(flow: self)
        }
    }

    @MainActor private func notify(_ body: @Sendable (any DirectAuthenticationFlowDelegate) -> Void) {
        delegateCollection.invoke(body)
    }
}

/// An observer of a ``DirectAuthenticationFlow``. Methods are called on the main actor.
public protocol DirectAuthenticationFlowDelegate: AuthenticationDelegate {
    /// Called when a step has returned tokens or the required next step.
    func authentication<Flow>(flow: Flow, received status: DirectAuthenticationFlow.Status)
}

extension DirectAuthenticationFlowDelegate {
    /// Does nothing.
    public func authentication<Flow>(flow: Flow, received status: DirectAuthenticationFlow.Status) {}
}

extension [GrantType] {
    /// All grant types of direct authentication.
    public static var directAuth: [GrantType] { [.password, .oob, .otp, .oobMFA, .otpMFA, .webAuthn, .webAuthnMFA] }
}

extension OAuth2Client {
    /// Creates a flow for this client.
    /// - Parameters:
    ///   - supportedGrants: The grant types that the app supports.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public func directAuthenticationFlow(
        supportedGrants: [GrantType] = .directAuth, additionalParameters: [String: String]? = nil
    ) -> DirectAuthenticationFlow {
        DirectAuthenticationFlow(client: self, supportedGrants: supportedGrants, additionalParameters: additionalParameters)
    }
}
