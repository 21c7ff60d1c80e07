/// A factor of a kind that has no class of its own, such as e-mail or a security key.
open class OktaFactorOther: OktaFactor {
    /// Sends a body of the app's own.
    ///
    /// - Parameters:
    ///   - link: Where to.
    ///   - keyValuePayload: The members of the body; put the transaction's `stateToken` among them.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func sendRequest(
        with link: LinksResponse.Link, keyValuePayload: [String: Any], onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        send(to: link, "", onStatusChange, onError) { api, link, completion in
            api.sendApiRequest(with: link, bodyParams: keyValuePayload, method: .post, completion: completion)
        }
    }
}

extension OktaFactorOther {
    /// Sends a body of the app's own.
    ///
    /// - Parameters:
    ///   - link: Where to.
    ///   - keyValuePayload: The members of the body; put the transaction's `stateToken` among them.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func sendRequest(with link: LinksResponse.Link, keyValuePayload: [String: Any]) async throws -> OktaAuthStatus {
        try await MainQueue.value { sendRequest(with: link, keyValuePayload: keyValuePayload, onStatusChange: $0, onError: $1) }
    }
}
