import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension Credential {
    /// Adds the current access token to a request, whether it is still good or not.
    ///
    /// - Parameter request: The request, whose header `Authorization` is replaced.
    public func authorize(request: inout URLRequest) {
        request.setValue(token.authorizationHeader, forHTTPHeaderField: "Authorization")
    }

    /// Adds an access token to a request, refreshed before if need be.
    ///
    /// Never throws: if the refresh fails, the old token is used, and the failure becomes a ``Event/refreshFailed(_:_:)``. Use
    /// ``authorizing(_:)`` to know of it.
    ///
    /// - Parameter request: The request, whose header `Authorization` is replaced.
    public func authorize(_ request: inout URLRequest) async {
        // The failure was told as an event by the refresh itself; a cancelled wait is the caller's own doing.
        try? await refreshIfNeeded()
        authorize(request: &request)
    }

    /// A request with an access token that is good; ``authorize(_:)`` as a function that throws.
    ///
    /// - Parameter request: The request, whose header `Authorization` is replaced.
    /// - Returns: The request with the header.
    /// - Throws: What ``refresh()`` throws, if the token needed a refresh.
    public func authorizing(_ request: URLRequest) async throws -> URLRequest {
        try await refreshIfNeeded()
        var request = request
        authorize(request: &request)
        return request
    }
}
