internal import AuthFoundation
public import Foundation

/// What the published functions have no room for.
extension OktaAPI {
    /// A name for this device, for ``deviceToken``: make one for each installation and keep it, best in the Keychain.
    ///
    /// - Returns: 32 characters without hyphens, from 16 random bytes.
    public static func makeDeviceToken() -> String {
        Randomness.system.bytes(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Trades a recovery token, which came by e-mail, for the state in which the recovery goes on: `POST /api/v1/authn/recovery/token`.
    ///
    /// - Parameters:
    ///   - recoveryToken: The token, good once.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    public func verifyRecoveryToken(_ recoveryToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil) -> OktaAPIRequest {
        run(request(to: .path("/api/v1/authn/recovery/token"), ["recoveryToken": recoveryToken], completion))
    }

    /// Changes or resets a password, and says what becomes of the person's other sessions.
    ///
    /// - Parameters:
    ///   - link: Where the server said to send it.
    ///   - stateToken: The transaction's token.
    ///   - oldPassword: The password so far; nil in a recovery.
    ///   - newPassword: The new password.
    ///   - revokeSessions: Whether the other sessions end.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    public func setPassword(
        link: LinksResponse.Link, stateToken: String, oldPassword: String? = nil, newPassword: String, revokeSessions: Bool,
        completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let body: [String: Any?] = [
            "stateToken": stateToken, "oldPassword": oldPassword, "newPassword": newPassword, "revokeSessions": revokeSessions,
        ]
        return run(request(to: .link(link), body, completion))
    }

    /// Waits for a request of this class's.
    ///
    /// Cancelling the task ends the wait; the request goes on.
    ///
    /// ```swift
    /// let answer = try await api.response { $0.getTransactionState(stateToken: token, completion: $1) }
    /// ```
    ///
    /// - Parameter start: Calls one of the functions with the completion that it is given.
    /// - Returns: The answer.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func response(
        of start: (OktaAPI, _ completion: @escaping (OktaAPIRequest.Result) -> Void) -> OktaAPIRequest
    ) async throws -> OktaAPISuccessResponse {
        try await MainQueue.value { onValue, onError in
            _ = start(self) { result in
                switch result {
                case .success(let response): onValue(response)
                case .error(let error): onError(error)
                }
            }
        }
    }

    /// Gets something that a link leads to, such as the image of a code to scan.
    ///
    /// Cancelling the task ends the wait; the request goes on.
    ///
    /// - Parameter url: Where it is.
    /// - Returns: What is there.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func data(from url: URL) async throws -> Data {
        try await MainQueue.value { sendHttpRequest(with: url, method: .get, onCompletion: $0, onError: $1) }
    }
}
