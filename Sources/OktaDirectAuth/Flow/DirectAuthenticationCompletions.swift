extension DirectAuthenticationFlow {
    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - loginHint: The username.
    ///   - factor: The first factor.
    ///   - context: What the sign-in asks for.
    ///   - completion: Is called once, on no particular thread.
    nonisolated public func start(
        _ loginHint: String, with factor: PrimaryFactor, context: Context = .init(),
        completion: @escaping @Sendable (Result<Status, DirectAuthenticationFlowError>) -> Void
    ) {
        run(completion) { try await $0.start(loginHint, with: factor, context: context) }
    }

    /// Goes on with a second factor.
    ///
    /// - Parameters:
    ///   - factor: The second factor.
    ///   - completion: Is called once, on no particular thread.
    nonisolated public func resume(
        with factor: SecondaryFactor, completion: @escaping @Sendable (Result<Status, DirectAuthenticationFlowError>) -> Void
    ) {
        run(completion) { try await $0.resume(with: factor) }
    }

    /// Goes on after a continuation.
    ///
    /// - Parameters:
    ///   - factor: What the continuation asks for.
    ///   - completion: Is called once, on no particular thread.
    nonisolated public func resume(
        with factor: ContinuationFactor, completion: @escaping @Sendable (Result<Status, DirectAuthenticationFlowError>) -> Void
    ) {
        run(completion) { try await $0.resume(with: factor) }
    }

    nonisolated private func run(
        _ completion: @escaping @Sendable (Result<Status, DirectAuthenticationFlowError>) -> Void,
        step: @escaping @Sendable (DirectAuthenticationFlow) async throws -> Status
    ) {
        Task {
            let result: Result<Status, DirectAuthenticationFlowError>
            do { result = .success(try await step(self)) } catch { result = .failure(DirectAuthenticationFlowError(error)) }
            completion(result)
        }
    }
}
