import AuthFoundation

/// Common behavior of the flows: one sign-in at a time, and delegates that are called on the main actor.
protocol SignInFlow: AuthenticationFlow {
    nonisolated var client: OAuth2Client { get }
    nonisolated var progress: SignInProgress<Context> { get }

    /// Calls a method of each delegate.
    @MainActor func tell(_ words: @Sendable (any AuthenticationDelegate) -> Void)
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
    ///   - call: The call, which the progress must already know.
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

    /// Ends the sign-in and calls the delegates. Runs on the main actor, where apps cancel and reset: after a cancellation, a response that
    /// has arrived cannot complete the sign-in.
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
