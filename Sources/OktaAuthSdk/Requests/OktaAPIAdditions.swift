internal import AuthFoundation
public import Foundation

/// Additional requests, parameters and `async` functions.
extension OktaAPI {
    /// Creates an ID for this device, for ``deviceToken``. Create one for each installation and store it, preferably in the Keychain.
    /// - Returns: 16 random bytes as 32 hexadecimal digits.
    public static func makeDeviceToken() -> String {
        Randomness.system.bytes(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Starts a recovery with a token from an email: `POST /api/v1/authn/recovery/token`.
    /// - Parameter recoveryToken: The token. It can be used once.
    @discardableResult
    public func verifyRecoveryToken(_ recoveryToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil) -> OktaAPIRequest {
        run(request(to: .path("/api/v1/authn/recovery/token"), ["recoveryToken": recoveryToken], completion))
    }

    /// Changes or resets a password, and optionally ends the user's other sessions.
    /// - Parameters:
    ///   - oldPassword: The current password; `nil` in a recovery.
    ///   - revokeSessions: Whether to end the other sessions of the user.
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

    /// Sends a request of this class and waits for its response.
    /// Cancelling the task ends the wait but not the request.
    ///
    /// ```swift
    /// let answer = try await api.response { $0.getTransactionState(stateToken: token, completion: $1) }
    /// ```
    /// - Parameter start: Calls a function of this class with the given completion.
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

    /// Fetches the content of a URL, such as the image of a QR code.
    /// Cancelling the task ends the wait but not the request.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func data(from url: URL) async throws -> Data {
        try await MainQueue.value { sendHttpRequest(with: url, method: .get, onCompletion: $0, onError: $1) }
    }
}
