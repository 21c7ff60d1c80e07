public import AuthFoundation
public import Foundation

/// A flow that signs a user in on a device without a browser or keyboard, through a second device (RFC 8628).
///
/// ```swift
/// let flow = try DeviceAuthorizationFlow()
/// let verification = try await flow.start()
/// print("Open \(verification.verificationUri) and type \(verification.userCode)")
/// let token = try await flow.resume()
/// try Credential.store(token)
/// ```
/// A flow can run any number of sign-ins, one at a time. A new `start`, or ``reset()``, supersedes the current sign-in, whose calls fail at
/// once with `OAuth2Error.invalidContext`. Cancelling a call's task cancels the sign-in and revokes tokens that arrive later.
public actor DeviceAuthorizationFlow: AuthenticationFlow, OAuth2ClientDelegate {
    /// The type of the flow's delegates.
    public typealias Delegate = DeviceAuthorizationFlowDelegate

    /// The client that signs in.
    nonisolated public let client: OAuth2Client

    /// Additional parameters for every sign-in.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// The flow's delegates.
    nonisolated public let delegateCollection = DelegateCollection<any DeviceAuthorizationFlowDelegate>()

    /// The verification and the task of the running call of ``resume()``; `nil` if there is none.
    private var wait: (verification: Verification, task: Task<Token, any Error>)?

    nonisolated let progress = SignInProgress<Context>()

    /// The context of the current sign-in; `nil` if there is none.
    nonisolated public var context: Context? { progress.context }

    /// Whether a sign-in is in progress.
    nonisolated public var isAuthenticating: Bool { progress.isAuthenticating }

    /// Creates a flow and its client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The requested scopes.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), additionalParameters: additionalParameters)
    }

    /// Creates a flow and its client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The requested scopes.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), additionalParameters: additionalParameters)
    }

    /// Creates a flow for a client.
    /// - Parameter additionalParameters: Additional parameters for every sign-in.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]? = nil) {
        SDKVersion.register(.oauth2Auth, version: SDKVersion.current)
        self.client = client
        self.additionalParameters = additionalParameters
        client.add(delegate: self)
    }

    /// Starts a sign-in and returns the code to show to the user. Then call ``resume()``.
    /// If an error is thrown, the sign-in has ended.
    /// - Throws: `OAuth2Error.missingOpenIdConfiguration(attribute:)` if the server does not support device authorization; `APIClientError`
    ///   if the server returns an error or is unreachable; `OAuth2Error.invalidContext` if the sign-in was superseded; or
    ///   `CancellationError`.
    public func start(with context: Context = .init()) async throws -> Verification {
        var context = context
        context.verification = nil
        let call = FlowCall<Verification>()
        wait = nil
        progress.begin(context, call)
        await tell { $0.authenticationStarted(flow: self) }
        let verification = try await step(call) { [client, additionalParameters, context] in
            try await client.deviceVerification(context: context, flow: additionalParameters)
        } taking: {
            $0.verification = $1
        }
        await tellVerification { $0.authentication(flow: self, received: verification) }
        return verification
    }

    /// Polls the server until the user approves or denies the sign-in on the other device.
    /// - The first request is sent at once. Further requests follow at the server's interval, which is at least one second.
    /// - Each `slow_down` adds five seconds. After status 429, the flow waits as long as the server requires.
    /// - A server with long polling holds each request until the decision. The interval then starts when the request is sent.
    /// - If the server is unreachable, the flow retries after the next interval.
    ///
    /// A concurrent second call waits for the same decision and returns the same tokens. If an error is thrown, the sign-in has ended.
    /// - Returns: The validated tokens.
    /// - Throws:
    ///   - `OAuth2Error.invalidContext` if no sign-in waits for a decision, or if the sign-in was superseded.
    ///   - `APIClientError` with `access_denied` if the user denies, with `expired_token` if the server reports an expired code, or if the
    ///     server stays unreachable.
    ///   - ``DeviceCodeExpiredError`` if the code expires before the user decides.
    ///   - `JWTError` if the ID token is invalid.
    ///   - `CancellationError` if the task was cancelled.
    public func resume() async throws -> Token {
        guard let context = progress.context, let verification = context.verification, let issuedAt = verification.issuedAt else {
            let error = OAuth2Error.invalidContext
            await tell { $0.authentication(flow: self, received: error) }
            throw error
        }
        if let wait, wait.verification == verification { return try await join(wait.task) }
        let call = FlowCall<Token>()
        try progress.proceed(call) { $0.verification == verification }
        let task = Task { try await tokens(call, verification, issuedAt, context) }
        wait = (verification, task)
        defer { if wait?.task == task { wait = nil } }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Waits for the tokens of another call. Cancelling this call does not cancel the other call.
    private func join(_ task: Task<Token, any Error>) async throws -> Token {
        do {
            return try await FlowCall<Token>().value { try await task.value }
        } catch is CancellationError where !Task.isCancelled {
            // The other call was cancelled, which ended the sign-in.
            throw OAuth2Error.invalidContext
        }
    }

    nonisolated private func tokens(
        _ call: FlowCall<Token>, _ verification: Verification, _ issuedAt: Date, _ context: Context
    ) async throws -> Token {
        try await finish(call) { [client, additionalParameters] in
            let wait = ApprovalWait(
                interval: verification.interval, end: issuedAt.addingTimeInterval(verification.expiresIn), clock: client.clock,
                tooLate: DeviceCodeExpiredError()
            ) { passage in
                try await client.tokens(
                    .deviceCode, ["device_code": verification.deviceCode], context: context, flow: additionalParameters, passage: passage)
            }
            return try await wait.value()
        }
    }

    /// Cancels the current sign-in. A running call fails at once with `OAuth2Error.invalidContext`.
    public func reset() {
        progress.reset()
    }

    @MainActor private func tellVerification(_ words: @Sendable (any DeviceAuthorizationFlowDelegate) -> Void) {
        delegateCollection.invoke(words)
    }
}

extension DeviceAuthorizationFlow: SignInFlow {
    @MainActor func tell(_ words: @Sendable (any AuthenticationDelegate) -> Void) {
        delegateCollection.invoke { words($0) }
    }
}

/// An observer of a ``DeviceAuthorizationFlow``. Methods are called on the main actor.
public protocol DeviceAuthorizationFlowDelegate: AuthenticationDelegate {
    /// Called when the code for the user is ready.
    func authentication<Flow: DeviceAuthorizationFlow>(flow: Flow, received verification: DeviceAuthorizationFlow.Verification)
}

extension DeviceAuthorizationFlowDelegate {
    /// Does nothing.
    public func authentication<Flow: DeviceAuthorizationFlow>(flow: Flow, received verification: DeviceAuthorizationFlow.Verification) {}
}

extension DeviceAuthorizationFlow {
    /// Starts a sign-in, like ``start(with:)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func start(
        with context: Context = .init(), completion: @escaping @Sendable (Result<Verification, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: context) }
    }

    /// Polls the server until the user decides, like ``resume()``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func resume(completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.resume() }
    }
}

extension OAuth2Client {
    /// Requests a device code (RFC 8628 §3.1).
    fileprivate func deviceVerification(
        context: DeviceAuthorizationFlow.Context, flow: [String: any APIRequestArgument]?
    ) async throws -> DeviceAuthorizationFlow.Verification {
        let provider = try await openIdConfiguration()
        guard let endpoint = provider.deviceAuthorizationEndpoint else {
            throw OAuth2Error.missingOpenIdConfiguration(
                attribute: OpenIdConfiguration.ProviderMetadata.deviceAuthorizationEndpoint.rawValue)
        }
        guard LoopbackRule.isAcceptable(endpoint) else { throw OAuth2Error.invalidUrl }
        var parameters = parameters(for: .authorization, flow: flow, context: context)
        // The flow has no redirect.
        parameters["redirect_uri"] = nil
        let request = DeviceAuthorizationRequest(
            openIdConfiguration: provider, clientConfiguration: configuration, url: endpoint, parameters: parameters)
        var verification = try await request.send(to: self).result
        verification.issuedAt = clock.now
        return verification
    }

    /// Creates a flow for this client.
    /// - Parameter additionalParameters: Additional parameters for every sign-in.
    public func deviceAuthorizationFlow(additionalParameters: [String: any APIRequestArgument]? = nil) -> DeviceAuthorizationFlow {
        DeviceAuthorizationFlow(client: self, additionalParameters: additionalParameters)
    }
}

private struct DeviceAuthorizationRequest: FlowRequest {
    typealias ResponseType = DeviceAuthorizationFlow.Verification
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let url: URL
    let parameters: [String: any APIRequestArgument]
}
