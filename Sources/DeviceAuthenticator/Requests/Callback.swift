/// Between the callback forms and the asynchronous ones, which do the work.
enum Callback {
    /// Runs an asynchronous call for someone who wants to be called back: once, and not on the main queue.
    static func run<Value: Sendable>(
        _ completion: @escaping @Sendable (Result<Value, DeviceAuthenticatorError>) -> Void,
        operation: @escaping @Sendable () async throws -> Value
    ) {
        Task {
            let result: Result<Value, DeviceAuthenticatorError>
            do { result = .success(try await operation()) } catch { result = .failure(failure(error)) }
            completion(result)
        }
    }

    /// The same for calls that give nothing but an error.
    static func run(
        _ completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void, operation: @escaping @Sendable () async throws -> Void
    ) {
        Task {
            var failed: DeviceAuthenticatorError?
            do { try await operation() } catch { failed = failure(error) }
            completion(failed)
        }
    }

    private static func failure(_ error: any Error) -> DeviceAuthenticatorError {
        (DeviceAuthenticatorError.reporting(error) as? DeviceAuthenticatorError) ?? .internalError("The call was cancelled.")
    }

    /// Waits for a call that calls back.
    static func value<Value: Sendable>(
        _ start: (@escaping @Sendable (Result<Value, DeviceAuthenticatorError>) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            start { continuation.resume(with: $0.mapError { $0 as any Error }) }
        }
    }
}
