/// A recovery has come so far that a new password can be set.
open class OktaAuthStatusPasswordReset: OktaAuthStatus {
    /// Names the transaction in each further request.
    public internal(set) var stateToken: String

    /// When the new password ends; nil where the answer does not say.
    open var passwordExpiration: EmbeddedResponse.Policy.Password.PasswordExpiration? { passwordPolicy?.expiration }

    /// What the new password is made of; nil where the answer does not say.
    open var passwordComplexity: EmbeddedResponse.Policy.Password.PasswordComplexity? { passwordPolicy?.complexity }

    /// Takes the place of another status after an answer.
    ///
    /// - Parameters:
    ///   - currentState: The status so far.
    ///   - model: The answer.
    /// - Throws: `OktaError.invalidResponse` if the answer lacks something that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        guard let stateToken = model.stateToken else { throw OktaError.invalidResponse("it has no state token") }
        self.stateToken = stateToken
        try super.init(currentState: currentState, model: model)
        statusType = .passwordReset
    }

    /// Whether the password can be set.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canReset() -> Bool { model.links?.next != nil }

    /// Sets a new password.
    ///
    /// - Parameters:
    ///   - newPassword: The new password.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func resetPassword(
        newPassword: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.next, "next", onStatusChange, onError) { link, token, completion in
            restApi.resetPassword(newPassword: newPassword, stateToken: token, link: link, completion: completion)
        }
    }
}

extension OktaAuthStatusPasswordReset {
    /// Sets a new password.
    ///
    /// - Parameter newPassword: The new password.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func resetPassword(newPassword: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { resetPassword(newPassword: newPassword, onStatusChange: $0, onError: $1) }
    }
}
