import AuthFoundation
public import Foundation

/// Signs a person in without a browser: with a password, a one-time code, an approval on another device, or a passkey, and with a second
/// factor if the server asks for one.
///
/// ```swift
/// let flow = try DirectAuthenticationFlow()
/// switch try await flow.start("jane.doe@example.com", with: .password(password)) {
/// case .success(let token): try Credential.store(token)
/// case .mfaRequired: break      // go on with resume(with:)
/// case .continuation: break     // go on with resume(with:)
/// }
/// ```
///
/// One flow serves any number of sign-ins, one after the other. A call that begins while another is under way supersedes it: the older one
/// ends with ``DirectAuthenticationFlowError/inconsistentContextState``.
///
/// Cancelling the task of a call gives the sign-in up, as ``reset()`` and another ``start(_:with:context:)`` do. The call ends at once, and
/// nobody is signed in afterwards, whatever another device approves: tokens that come all the same are revoked. If the server still waits for
/// the person, it is told, in the background, by a revocation of the `mfa_token` or `oob_code`, so that it can withdraw its request from their
/// device. Whether that arrives changes nothing here.
public actor DirectAuthenticationFlow: AuthenticationFlow, OAuth2ClientDelegate {
    /// What observes a flow.
    public typealias Delegate = DirectAuthenticationFlowDelegate

    /// The client that signs in.
    nonisolated public let client: OAuth2Client

    /// The grants that the app can go through with, which the server is told.
    nonisolated public let supportedGrantTypes: [GrantType]

    /// Further parameters for every sign-in.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// What observes the flow.
    nonisolated public let delegateCollection = DelegateCollection<any DirectAuthenticationFlowDelegate>()

    nonisolated private let state = Locked(SignInState())
    nonisolated private let background = BackgroundWork()

    /// What the sign-in under way asks for, and how far it has come.
    nonisolated public var context: Context? { state.withLock { $0.context } }

    /// Whether a sign-in is under way.
    nonisolated public var isAuthenticating: Bool { state.withLock { $0.isAuthenticating } }

    /// Makes a flow and the client for it.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - grantTypes: The grants that the app can go through with.
    ///   - additionalParameters: Further parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, supportedGrants grantTypes: [GrantType] = .directAuth,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), supportedGrants: grantTypes,
            additionalParameters: additionalParameters)
    }

    /// Makes a flow and the client for it.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - grantTypes: The grants that the app can go through with.
    ///   - additionalParameters: Further parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, supportedGrants grantTypes: [GrantType] = .directAuth,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), supportedGrants: grantTypes,
            additionalParameters: additionalParameters)
    }

    /// Makes a flow.
    ///
    /// - Parameters:
    ///   - client: The client that signs in.
    ///   - grantTypes: The grants that the app can go through with.
    ///   - additionalParameters: Further parameters for every sign-in.
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

    /// Makes a flow that can go through with every grant.
    ///
    /// - Parameters:
    ///   - client: The client that signs in.
    ///   - additionalParameters: Further parameters for every sign-in.
    /// - Throws: Nothing.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]?) throws {
        self.init(client: client, supportedGrants: .directAuth, additionalParameters: additionalParameters)
    }

    // MARK: Signing in

    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - loginHint: The username.
    ///   - factor: The first factor.
    ///   - context: What the sign-in asks for.
    /// - Returns: The tokens, or what must happen next: go on with ``resume(with:)-(DirectAuthenticationFlow.SecondaryFactor)``
    ///   or ``resume(with:)-(DirectAuthenticationFlow.ContinuationFactor)``.
    /// - Throws: `APIClientError` if the server refuses or is not reached, `JWTError` if the ID token is not acceptable,
    ///   ``DirectAuthenticationFlowError``, or `CancellationError`. The sign-in has ended then.
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
            return try await run(call) { try await attempt.primary(factor, loginHint: loginHint) }
        } catch {
            end(call)
            await notifyFailure(error)
            throw error
        }
    }

    /// Goes on with a second factor, after ``Status/mfaRequired(_:)``; or asks for another code or push while one is awaited.
    ///
    /// - Parameter factor: The second factor.
    /// - Returns: The tokens, or what must happen next.
    /// - Throws: ``DirectAuthenticationFlowError/flowNotStarted`` without a sign-in under way,
    ///   ``DirectAuthenticationFlowError/missingArguments(_:)`` if no second factor was asked for, and what
    ///   ``start(_:with:context:)`` throws. The call can be repeated.
    public func resume(with factor: SecondaryFactor) async throws -> Status {
        try await resume { try await $0.secondary(factor, loginHint: $1) }
    }

    /// Goes on after ``Status/continuation(_:)``.
    ///
    /// - Parameter factor: What the continuation asks for.
    /// - Returns: The tokens, or what must happen next.
    /// - Throws: ``DirectAuthenticationFlowError/flowNotStarted`` without a sign-in under way,
    ///   ``DirectAuthenticationFlowError/invalidContinuationContext`` if something else was asked for, and what
    ///   ``start(_:with:context:)`` throws. The call can be repeated.
    public func resume(with factor: ContinuationFactor) async throws -> Status {
        try await resume { attempt, _ in try await attempt.continuation(factor) }
    }

    /// Forgets the sign-in under way, and tells the server if it still keeps it open.
    ///
    /// A call that is under way ends at once with ``DirectAuthenticationFlowError/inconsistentContextState``, and what another device approves
    /// afterwards signs nobody in.
    public func reset() {
        supersede { $0.end() }
    }

    /// Waits until nothing is under way any more, for a program that is about to end: not a call, not what the server is told of sign-ins
    /// that were given up. Ends when its task is cancelled, too.
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
            return try await run(call) { try await step(attempt, loginHint) }
        } catch let error as CancellationError {
            // Who cancels gives the sign-in up.
            end(call)
            await notifyFailure(error)
            throw error
        } catch {
            // The sign-in goes on: the call can be repeated.
            await notify { $0.authentication(flow: self, received: OAuth2Error(error)) }
            throw error
        }
    }

    /// Ends the call under way, whose caller leaves at once.
    ///
    /// - Parameter change: What takes its place; returns the transaction that nobody goes on with.
    private func supersede(_ change: (inout SignInState) -> OpenTransaction?) {
        let (call, abandoned) = state.withLock { state in
            let call = state.call
            return (call, change(&state))
        }
        call?.leave(DirectAuthenticationFlowError.inconsistentContextState)
        abandoned?.abandon()
    }

    /// Ends the sign-in, unless something has superseded the call.
    private func end(_ call: FlowCall<Status>) {
        state.withLock { $0.end(by: call) }?.abandon()
    }

    private func attempt(_ context: Context, _ transaction: OpenTransaction) -> SignInAttempt {
        SignInAttempt(
            client: client, supportedGrants: supportedGrantTypes, additionalParameters: additionalParameters, context: context,
            transaction: transaction)
    }

    private func run(_ call: FlowCall<Status>, _ work: @escaping @Sendable () async throws -> Status) async throws -> Status {
        let status = try await call.value(of: work) { [client, background] late in
            if case .success(let token) = late { Self.discard(token, of: client, in: background) }
        }
        do {
            try await conclude(call, with: status)
            return status
        } catch {
            if case .success(let token) = status { Self.discard(token, of: client, in: background) }
            throw error
        }
    }

    /// Takes the status over and tells the delegates, on the main actor: there apps cancel and reset, so that who has done so before is not
    /// signed in by an answer that had come but was not taken yet.
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

    /// Revokes tokens that nobody gets, in a task of its own: the caller has left, or is cancelled.
    private static func discard(_ token: Token, of client: OAuth2Client, in background: BackgroundWork) {
        background.begin {
            // Best effort: nobody is there to be told, and tokens that nobody has end by themselves.
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

/// An observer of a ``DirectAuthenticationFlow``. It is called on the main actor.
public protocol DirectAuthenticationFlowDelegate: AuthenticationDelegate {
    /// A step has brought tokens, or tells what must happen next.
    func authentication<Flow>(flow: Flow, received status: DirectAuthenticationFlow.Status)
}

extension DirectAuthenticationFlowDelegate {
    /// Does nothing.
    public func authentication<Flow>(flow: Flow, received status: DirectAuthenticationFlow.Status) {}
}

extension [GrantType] {
    /// Every grant that direct authentication can go through with.
    public static var directAuth: [GrantType] { [.password, .oob, .otp, .oobMFA, .otpMFA, .webAuthn, .webAuthnMFA] }
}

extension OAuth2Client {
    /// Makes a flow for this client.
    ///
    /// - Parameters:
    ///   - supportedGrants: The grants that the app can go through with.
    ///   - additionalParameters: Further parameters for every sign-in.
    /// - Returns: The flow.
    public func directAuthenticationFlow(
        supportedGrants: [GrantType] = .directAuth, additionalParameters: [String: String]? = nil
    ) -> DirectAuthenticationFlow {
        DirectAuthenticationFlow(client: self, supportedGrants: supportedGrants, additionalParameters: additionalParameters)
    }
}
