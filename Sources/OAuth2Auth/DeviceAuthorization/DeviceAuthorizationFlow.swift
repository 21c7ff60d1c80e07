public import AuthFoundation
public import Foundation

/// Signs a person in on a device without a browser or keyboard, by way of another device (RFC 8628).
///
/// ```swift
/// let flow = try DeviceAuthorizationFlow()
/// let verification = try await flow.start()
/// print("Open \(verification.verificationUri) and type \(verification.userCode)")
/// let token = try await flow.resume()
/// try Credential.store(token)
/// ```
///
/// One flow serves any number of sign-ins, one after the other. A `start` and ``reset()`` supersede what is under way: a call that waits ends
/// at once with `OAuth2Error.invalidContext`. Cancelling its task ends it at once too, and gives the sign-in up; tokens that come all the same
/// are revoked.
public actor DeviceAuthorizationFlow: AuthenticationFlow, OAuth2ClientDelegate {
    /// What observes a flow.
    public typealias Delegate = DeviceAuthorizationFlowDelegate

    /// The client that signs in.
    nonisolated public let client: OAuth2Client

    /// Further parameters for every sign-in.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// What observes the flow.
    nonisolated public let delegateCollection = DelegateCollection<any DeviceAuthorizationFlowDelegate>()

    /// The call of ``resume()`` under way, and what it waits for.
    private var wait: (verification: Verification, task: Task<Token, any Error>)?

    nonisolated let progress = SignInProgress<Context>()

    /// What the sign-in under way asks for; nil if there is none.
    nonisolated public var context: Context? { progress.context }

    /// Whether a sign-in is under way.
    nonisolated public var isAuthenticating: Bool { progress.isAuthenticating }

    /// Makes a flow and the client for it.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - additionalParameters: Further parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), additionalParameters: additionalParameters)
    }

    /// Makes a flow and the client for it.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - additionalParameters: Further parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), additionalParameters: additionalParameters)
    }

    /// Makes a flow.
    ///
    /// - Parameters:
    ///   - client: The client that signs in.
    ///   - additionalParameters: Further parameters for every sign-in.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]? = nil) {
        SDKVersion.register(.oauth2Auth, version: SDKVersion.current)
        self.client = client
        self.additionalParameters = additionalParameters
        client.add(delegate: self)
    }

    // MARK: Signing in

    /// Begins a sign-in.
    ///
    /// - Parameter context: What the sign-in asks for.
    /// - Returns: What the person must be shown. Go on with ``resume()``.
    /// - Throws: `OAuth2Error.missingOpenIdConfiguration(attribute:)` if the server does not offer it, `APIClientError` if it refuses or is
    ///   not reached, `OAuth2Error.invalidContext` if the sign-in has been superseded, or `CancellationError`. The sign-in has ended then.
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

    /// Waits until the person has decided on the other device.
    ///
    /// It asks the server at once and then after each interval that the server named, at least a second, five seconds more after each
    /// `slow_down`, and as long as it says after 429. A server with long polling is asked to hold each request until the decision, and the
    /// interval counts from sending it. A server that is not reached is asked again after the next interval. A second call meanwhile waits
    /// with the first, and gets the same tokens.
    ///
    /// - Returns: The tokens, validated.
    /// - Throws: `OAuth2Error.invalidContext` if no sign-in waits, or if it has been superseded; `APIClientError` with `access_denied` if the
    ///   person refuses, with `expired_token` if the server finds the code too old, or if the server is not reached to the end;
    ///   ``DeviceCodeExpiredError`` when the code has expired; `JWTError` if the ID token is not acceptable; or `CancellationError`. The
    ///   sign-in has ended then.
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

    /// Waits for another call's tokens. Who leaves here does not end that call.
    private func join(_ task: Task<Token, any Error>) async throws -> Token {
        do {
            return try await FlowCall<Token>().value { try await task.value }
        } catch is CancellationError where !Task.isCancelled {
            // The other call was cancelled, and the sign-in has ended with it.
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

    /// Forgets the sign-in under way. A call that is under way ends at once with `OAuth2Error.invalidContext`.
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

/// An observer of a ``DeviceAuthorizationFlow``. It is called on the main actor.
public protocol DeviceAuthorizationFlowDelegate: AuthenticationDelegate {
    /// The server has said what the person must be shown.
    func authentication<Flow: DeviceAuthorizationFlow>(flow: Flow, received verification: DeviceAuthorizationFlow.Verification)
}

extension DeviceAuthorizationFlowDelegate {
    /// Does nothing.
    public func authentication<Flow: DeviceAuthorizationFlow>(flow: Flow, received verification: DeviceAuthorizationFlow.Verification) {}
}

extension DeviceAuthorizationFlow {
    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - context: What the sign-in asks for.
    ///   - completion: Is called once, on no particular thread.
    nonisolated public func start(
        with context: Context = .init(), completion: @escaping @Sendable (Result<Verification, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: context) }
    }

    /// Waits until the person has decided on the other device.
    ///
    /// - Parameter completion: Is called once, on no particular thread.
    nonisolated public func resume(completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.resume() }
    }
}

extension OAuth2Client {
    /// Asks for a device code (RFC 8628, 3.1).
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
        // There is no redirect.
        parameters["redirect_uri"] = nil
        let request = DeviceAuthorizationRequest(
            openIdConfiguration: provider, clientConfiguration: configuration, url: endpoint, parameters: parameters)
        var verification = try await request.send(to: self).result
        verification.issuedAt = clock.now
        return verification
    }

    /// Makes a flow for this client.
    ///
    /// - Parameter additionalParameters: Further parameters for every sign-in.
    /// - Returns: The flow.
    public func deviceAuthorizationFlow(additionalParameters: [String: any APIRequestArgument]? = nil) -> DeviceAuthorizationFlow {
        DeviceAuthorizationFlow(client: self, additionalParameters: additionalParameters)
    }
}

private struct DeviceAuthorizationRequest: OAuth2APIRequest, APIRequestBody {
    typealias ResponseType = DeviceAuthorizationFlow.Verification
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let url: URL
    let parameters: [String: any APIRequestArgument]

    var httpMethod: APIRequestMethod { .post }
    var contentType: APIContentType? { .formEncoded }
    var acceptsType: APIContentType? { .json }
    var category: OAuth2APIRequestCategory { .other }
    var bodyParameters: [String: any APIRequestArgument]? {
        var body: [String: any APIRequestArgument]? = parameters
        body.merge(clientConfiguration.authentication.parameters(for: category))
        return body
    }
}
