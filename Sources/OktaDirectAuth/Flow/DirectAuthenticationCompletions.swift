extension DirectAuthenticationFlow {
    /// Starts a sign-in, like ``start(_:with:context:)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func start(
        _ loginHint: String, with factor: PrimaryFactor, context: Context = .init(),
        completion: @escaping @Sendable (Result<Status, DirectAuthenticationFlowError>) -> Void
    ) {
        run(completion) { try await $0.start(loginHint, with: factor, context: context) }
    }

    /// Continues with a second factor, like ``resume(with:)-(DirectAuthenticationFlow.SecondaryFactor)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func resume(
        with factor: SecondaryFactor, completion: @escaping @Sendable (Result<Status, DirectAuthenticationFlowError>) -> Void
    ) {
        run(completion) { try await $0.resume(with: factor) }
    }

    /// Answers a continuation, like ``resume(with:)-(DirectAuthenticationFlow.ContinuationFactor)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
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
