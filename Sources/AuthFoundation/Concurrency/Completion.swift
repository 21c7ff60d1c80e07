/// Runs an asynchronous call for someone who wants to be called back.
package enum Completion {
    /// - Parameters:
    ///   - completion: Is called once, on no particular thread.
    ///   - operation: The call.
    package static func run<Value: Sendable>(
        _ completion: @escaping @Sendable (Result<Value, OAuth2Error>) -> Void, operation: @escaping @Sendable () async throws -> Value
    ) {
        Task {
            let result: Result<Value, OAuth2Error>
            do { result = .success(try await operation()) } catch { result = .failure(OAuth2Error(error)) }
            completion(result)
        }
    }
}
