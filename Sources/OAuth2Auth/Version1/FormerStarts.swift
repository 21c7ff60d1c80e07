public import AuthFoundation
public import Foundation

// Start methods with the signatures of SDK version 1, in which the additional parameters are separate from the context.

extension AuthorizationCodeFlow {
    /// Starts a sign-in, like ``start(with:)``, with additional parameters.
    /// - Parameter additionalParameters: Additional parameters. They override those of the context.
    @available(*, deprecated, message: "Use start(with:) and the context's additionalParameters. It is removed in version 2.")
    public func start(with context: Context? = nil, additionalParameters: [String: String]?) async throws -> URL {
        var context = context ?? Context()
        context.additionalParameters.merge(additionalParameters)
        return try await start(with: context)
    }

    /// Starts a sign-in and calls `completion` once, on an arbitrary thread.
    @available(*, deprecated, message: "Use start(with:) and the context's additionalParameters. It is removed in version 2.")
    nonisolated public func start(
        with context: Context? = nil, additionalParameters: [String: String]?,
        completion: @escaping @Sendable (Result<URL, OAuth2Error>) -> Void
    ) {
        var context = context ?? Context()
        context.additionalParameters.merge(additionalParameters)
        start(with: context, completion: completion)
    }
}

extension SessionLogoutFlow {
    /// Starts a sign-out, like ``start(with:)``, with additional parameters.
    /// - Parameter additionalParameters: Additional parameters. They override those of the context.
    @available(*, deprecated, message: "Use start(with:) and the context's additionalParameters. It is removed in version 2.")
    public func start(with context: Context, additionalParameters: [String: String]?) async throws -> URL {
        var context = context
        context.additionalParameters.merge(additionalParameters)
        return try await start(with: context)
    }

    /// Starts a sign-out and calls `completion` once, on an arbitrary thread.
    @available(*, deprecated, message: "Use start(with:) and the context's additionalParameters. It is removed in version 2.")
    nonisolated public func start(
        with context: Context, additionalParameters: [String: String]?,
        completion: @escaping @Sendable (Result<URL, OAuth2Error>) -> Void
    ) {
        var context = context
        context.additionalParameters.merge(additionalParameters)
        start(with: context, completion: completion)
    }
}
