import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension Credential {
    /// Adds the current access token to a request, whether it is still good or not.
    ///
    /// A token that is bound to a key (``OAuth2Client/Configuration/usesDPoP``) comes with a proof for this method and this URL, which must be
    /// set before; the proof is good for one request. Without the key the request gets no authorization, and the failure becomes a
    /// ``Event/storageFailed(_:)``.
    ///
    /// - Parameter request: The request, whose headers `Authorization` and `DPoP` are replaced.
    public func authorize(request: inout URLRequest) {
        do { try oauth2.authorize(&request, with: token) } catch { send(.storageFailed(error)) }
    }

    /// Adds an access token to a request, refreshed before if need be.
    ///
    /// Never throws: if the refresh fails, the old token is used, and the failure becomes a ``Event/refreshFailed(_:_:)``. Use
    /// ``authorizing(_:)`` to know of it.
    ///
    /// - Parameter request: The request, whose headers `Authorization` and `DPoP` are replaced. See ``authorize(request:)``.
    public func authorize(_ request: inout URLRequest) async {
        // The failure was told as an event by the refresh itself; a cancelled wait is the caller's own doing.
        try? await refreshIfNeeded()
        authorize(request: &request)
    }

    /// A request with an access token that is good; ``authorize(_:)`` as a function that throws.
    ///
    /// - Parameter request: The request, whose headers `Authorization` and `DPoP` are replaced.
    /// - Returns: The request with the headers.
    /// - Throws: What ``refresh()`` throws, if the token needed a refresh; ``DPoPError`` with ``DPoPError/Code/keyLost`` if the token is
    ///   bound to a key that is not on this device any more.
    public func authorizing(_ request: URLRequest) async throws -> URLRequest {
        try await refreshIfNeeded()
        var request = request
        try oauth2.authorize(&request, with: token)
        return request
    }

    /// Looks at a resource server's answer to a request that was authorized here, and says whether to send it again.
    ///
    /// A server may want a value of its own in proofs (RFC 9449, 9). It is remembered for the next request to that server; and if this one
    /// was refused for want of it, the request can be sent again, once.
    ///
    /// ```swift
    /// await credential.authorize(&request)
    /// var (data, response) = try await session.data(for: request)
    /// if let answer = response as? HTTPURLResponse, let again = try credential.reauthorizing(request, after: answer) {
    ///     (data, response) = try await session.data(for: again)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request as it was sent.
    ///   - response: The answer.
    /// - Returns: The request with a new proof; nil if sending it again is of no use.
    /// - Throws: ``DPoPError`` with ``DPoPError/Code/keyLost`` if the key is not on this device any more.
    public func reauthorizing(_ request: URLRequest, after response: HTTPURLResponse) throws -> URLRequest? {
        oauth2.learnNonce(from: response)
        guard oauth2.configuration.usesDPoP, DPoPNonce.isAsked(for: response, body: nil),
            response.header(DPoPNonce.header) != DPoPProof.nonce(in: request)
        else { return nil }
        var again = request
        try oauth2.authorize(&again, with: token)
        return again
    }
}
