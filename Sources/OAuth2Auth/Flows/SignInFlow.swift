import AuthFoundation

/// What the flows of this module have in common: one sign-in at a time, and delegates that are told about it on the main actor.
protocol SignInFlow: AuthenticationFlow {
    nonisolated var client: OAuth2Client { get }
    nonisolated var progress: SignInProgress<Context> { get }

    /// Tells the delegates something.
    @MainActor func tell(_ words: @Sendable (any AuthenticationDelegate) -> Void)
}

extension SignInFlow {
    /// A sign-in of one step.
    ///
    /// - Parameters:
    ///   - context: What it asks for.
    ///   - work: Gets the tokens.
    /// - Returns: The tokens.
    /// - Throws: What the work throws, `CancellationError`, or `OAuth2Error.invalidContext` if the sign-in has been superseded.
    nonisolated func signIn(_ context: Context, _ work: @escaping @Sendable () async throws -> Token) async throws -> Token {
        let call = FlowCall<Token>()
        progress.begin(context, call)
        await tell { $0.authenticationStarted(flow: self) }
        return try await finish(call, work)
    }

    /// The step of a sign-in that is not the last.
    ///
    /// - Parameters:
    ///   - call: The call, which the progress knows.
    ///   - work: Gets what the step is for.
    ///   - change: Notes it.
    /// - Returns: What the work brought.
    /// - Throws: As ``signIn(_:_:)``; the sign-in has ended then.
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

    /// The last step of a sign-in: whatever comes of it ends the sign-in.
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

    /// Ends the sign-in and tells the delegates, on the main actor: there apps cancel and reset, so that who has done so before is not signed
    /// in by an answer that had come but was not taken yet.
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
