/// The status in which the user sets a new password, at the end of a recovery.
open class OktaAuthStatusPasswordReset: OktaAuthStatus {
    /// The state token, which identifies the transaction in later requests.
    public internal(set) var stateToken: String

    /// The days until the new password expires; `nil` if the response does not contain them.
    open var passwordExpiration: EmbeddedResponse.Policy.Password.PasswordExpiration?

    /// The complexity rules for the new password; `nil` if the response does not contain them.
    open var passwordComplexity: EmbeddedResponse.Policy.Password.PasswordComplexity?

    /// Creates the status of a response.
    /// - Throws: `OktaError.invalidResponse` if the response lacks a value that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        stateToken = try model.stateToken.required("it has no state token")
        try super.init(currentState: currentState, model: model)
        statusType = .passwordReset
        passwordExpiration = passwordPolicy?.expiration
        passwordComplexity = passwordPolicy?.complexity
    }

    /// Whether the password can be set.
    open func canReset() -> Bool { model.links?.next != nil }

    /// Sets a new password.
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
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func resetPassword(newPassword: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { resetPassword(newPassword: newPassword, onStatusChange: $0, onError: $1) }
    }
}
