#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension Credential {
    /// Adds the current access token to a request, even if the token is expired. A token that is bound to a key
    /// (``OAuth2Client/Configuration/usesDPoP``) is sent with a proof for one request. The request must already have its method and URL. If
    /// the key is missing or the credential is locked, the request gets no authorization and a ``Event/storageFailed(_:)`` is sent.
    /// - Parameter request: The request, whose headers `Authorization` and `DPoP` are replaced.
    public func authorize(request: inout URLRequest) {
        do { try authorize(now: &request) } catch { send(.storageFailed(error)) }
    }

    /// Adds an access token to a request. Refreshes the token first if needed. Never throws: if the refresh fails, the old token is used
    /// and a ``Event/refreshFailed(_:_:)`` is sent. To handle the error, use ``authorizing(_:)``.
    /// - Parameter request: The request, whose headers `Authorization` and `DPoP` are replaced. See ``authorize(request:)``.
    public func authorize(_ request: inout URLRequest) async {
        // The refresh reports its failure as an event. If the wait was cancelled, the caller knows.
        try? await refreshIfNeeded()
        authorize(request: &request)
    }

    /// Returns a copy of a request with an access token, which is refreshed first if needed. A throwing variant of ``authorize(_:)``.
    /// - Parameter request: The request, whose headers `Authorization` and `DPoP` are replaced.
    /// - Throws: The errors of ``refresh()``, if a refresh was needed; ``DPoPError`` with ``DPoPError/Code/keyLost`` if the token is bound
    ///   to a key that is no longer on this device; ``CredentialLockedError``.
    public func authorizing(_ request: URLRequest) async throws -> URLRequest {
        try await refreshIfNeeded()
        var request = request
        try authorize(now: &request)
        return request
    }

    private func authorize(now request: inout URLRequest) throws {
        // The request must not keep the token of an earlier call, even if the credential is locked.
        for field in ["Authorization", DPoPNonce.proofHeader] { request.setValue(nil, forHTTPHeaderField: field) }
        try oauth2.authorize(&request, with: try unlockedToken())
    }

    /// Returns the request to send again, if the resource server rejected the first one because its proof lacks a nonce (RFC 9449 §9). The
    /// client also uses the nonce for later requests to this server. Resend at most once.
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
    ///   - response: The response of the resource server.
    /// - Returns: The request with a new proof, or `nil` if resending does not help.
    /// - Throws: ``DPoPError`` with ``DPoPError/Code/keyLost`` if the key is no longer on this device.
    public func reauthorizing(_ request: URLRequest, after response: HTTPURLResponse) throws -> URLRequest? {
        oauth2.learnNonce(from: response)
        guard oauth2.configuration.usesDPoP, DPoPNonce.isAsked(for: response, body: nil),
            response.header(DPoPNonce.header) != DPoPNonce.proved(in: request)
        else { return nil }
        var again = request
        try authorize(now: &again)
        return again
    }
}
