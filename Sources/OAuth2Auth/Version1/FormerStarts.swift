public import AuthFoundation
public import Foundation

// The beginnings of flows by the names that they had in version 1 of the SDK, where the further parameters stood beside the context.

extension AuthorizationCodeFlow {
    /// Begins a sign-in, as ``start(with:)`` does with a context that has these parameters too.
    ///
    /// - Parameters:
    ///   - context: What the sign-in asks for.
    ///   - additionalParameters: Further parameters; they take the place of the context's by the same name.
    /// - Returns: The URL for the browser.
    /// - Throws: As ``start(with:)``.
    @available(*, deprecated, message: "Use start(with:) and the context's additionalParameters. It is removed in version 2.")
    public func start(with context: Context? = nil, additionalParameters: [String: String]?) async throws -> URL {
        var context = context ?? Context()
        context.additionalParameters.merge(additionalParameters)
        return try await start(with: context)
    }

    /// Begins a sign-in, and calls back once on no particular thread.
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
    /// Begins a sign-out, as ``start(with:)`` does with a context that has these parameters too.
    ///
    /// - Parameters:
    ///   - context: What the sign-out asks for.
    ///   - additionalParameters: Further parameters; they take the place of the context's by the same name.
    /// - Returns: The URL for the browser.
    /// - Throws: As ``start(with:)``.
    @available(*, deprecated, message: "Use start(with:) and the context's additionalParameters. It is removed in version 2.")
    public func start(with context: Context, additionalParameters: [String: String]?) async throws -> URL {
        var context = context
        context.additionalParameters.merge(additionalParameters)
        return try await start(with: context)
    }

    /// Begins a sign-out, and calls back once on no particular thread.
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
