import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Common behavior of the flows: one sign-in at a time, and delegates that are called on the main actor.
protocol SignInFlow: AuthenticationFlow {
    nonisolated var client: OAuth2Client { get }
    nonisolated var progress: SignInProgress<Context> { get }

    /// Calls a method of each delegate.
    @MainActor func tell(_ words: @Sendable (any AuthenticationDelegate) -> Void)
}

extension SignInFlow where Delegate == any AuthenticationDelegate {
    @MainActor func tell(_ words: @Sendable (any AuthenticationDelegate) -> Void) {
        delegateCollection.invoke(words)
    }
}

extension SignInFlow {
    /// Runs a sign-in of one step.
    /// - Throws: Errors of `work`, `CancellationError`, or `OAuth2Error.invalidContext` if the sign-in was superseded.
    nonisolated func signIn(_ context: Context, _ work: @escaping @Sendable () async throws -> Token) async throws -> Token {
        let call = FlowCall<Token>()
        progress.begin(context, call)
        await tell { $0.authenticationStarted(flow: self) }
        return try await finish(call, work)
    }

    /// Runs a step that is not the last of a sign-in. An error ends the sign-in.
    /// - Parameters:
    ///   - call: The call that waits for the result. Register it with `progress.begin` first.
    ///   - change: Stores the result of `work` in the context.
    /// - Throws: The errors of ``signIn(_:_:)``.
    nonisolated func step<Value: Sendable>(
        _ call: FlowCall<Value>, _ work: @escaping @Sendable () async throws -> Value,
        taking change: @escaping @Sendable (inout Context, Value) -> Void
    ) async throws -> Value {
        do {
            let value = try await call.value(of: work)
            try progress.advance(by: call, isCancelled: Task.isCancelled) { change(&$0, value) }
            return value
        } catch {
            await fail(call, error)
            throw error
        }
    }

    /// Runs the last step of a sign-in. The sign-in then ends, with or without success.
    nonisolated func finish(_ call: FlowCall<Token>, _ work: @escaping @Sendable () async throws -> Token) async throws -> Token {
        do {
            let token = try await call.value(of: work) { [client] in client.discard($0) }
            do {
                try await conclude(call, with: token)
            } catch {
                client.discard(token)
                throw error
            }
            return token
        } catch {
            await fail(call, error)
            throw error
        }
    }

    /// Ends the sign-in and calls the delegates. Runs on the main actor, like the calls by which apps cancel and reset. After such a call,
    /// even a response that has already arrived cannot complete the sign-in.
    @MainActor private func conclude(_ call: FlowCall<Token>, with token: Token) throws {
        try progress.succeed(by: call, isCancelled: Task.isCancelled)
        tell { delegate in
            delegate.authentication(flow: self, received: token)
            delegate.authenticationFinished(flow: self)
        }
    }

    nonisolated private func fail(_ call: any OpenCall, _ error: any Error) async {
        progress.end(by: call)
        await tell { delegate in
            delegate.authentication(flow: self, received: OAuth2Error(error))
            delegate.authenticationFinished(flow: self)
        }
    }
}

/// A token request of a flow.
/// A request that has been sent runs to completion even if its caller is cancelled, so that unused tokens can be revoked.
struct GrantRequest: OAuth2TokenRequest, ProvidesTokenContext {
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let bodyParameters: [String: any APIRequestArgument]?
    let tokenContext: Token.Context
    let tokenValidatorContext: any IDTokenValidatorContext
    let passage: RequestState

    var headers: [String: (any APIRequestArgument)?]? { passage.headers }
    var timeoutInterval: TimeInterval { passage.timeoutInterval }

    func resultType(from response: HTTPURLResponse) -> APIResponseResult {
        passage.result(of: response)
    }
}

extension OAuth2Client {
    /// Requests tokens and validates them.
    /// - Parameters:
    ///   - parameters: The parameters of the grant. They override all other parameters.
    ///   - flow: The flow's additional parameters.
    ///   - expectations: The parameters of the sign-in that the ID token must match.
    /// - Throws: Errors of `exchange(token:)`.
    func tokens(
        _ grant: GrantType, _ parameters: [String: any APIRequestArgument], context: some AuthenticationContext,
        flow: [String: any APIRequestArgument]?, expectations: any IDTokenValidatorContext = NullIDTokenValidatorContext(),
        passage: RequestState = RequestState()
    ) async throws -> Token {
        var body = self.parameters(for: .token, flow: flow, context: context)
        body.merge(parameters) { $1 }
        body["grant_type"] = grant
        let request = GrantRequest(
            openIdConfiguration: try await openIdConfiguration(), clientConfiguration: configuration, bodyParameters: body,
            tokenContext: Token.Context(configuration: configuration, acrValues: context.acrValues), tokenValidatorContext: expectations,
            passage: passage)
        return try await passage.seeThrough { [self] in try await exchange(token: request).result }
    }

    /// Merges the parameters of a request. The configuration overrides the context, and the context overrides the flow.
    func parameters(
        for category: OAuth2APIRequestCategory, flow: [String: any APIRequestArgument]?, context: any ProvidesOAuth2Parameters
    ) -> [String: any APIRequestArgument] {
        var parameters = flow
        parameters.merge(context.parameters(for: category))
        parameters.merge(configuration.parameters(for: category))
        return parameters ?? [:]
    }
}

/// A request to the server that contains the parameters of a flow and the client's authentication.
protocol FlowRequest: FormRequest {
    var clientConfiguration: OAuth2Client.Configuration { get }
    var parameters: [String: any APIRequestArgument] { get }
}

extension FlowRequest {
    var bodyParameters: [String: any APIRequestArgument]? {
        var body: [String: any APIRequestArgument]? = parameters
        body.merge(clientConfiguration.authentication.parameters(for: category))
        return body
    }
}
