/// The password is right and expires soon: it may be changed, or not yet.
open class OktaAuthStatusPasswordWarning: OktaAuthStatus {
    /// Names the transaction in each further request.
    public internal(set) var stateToken: String

    /// In how many days the password ends; nil where the answer does not say.
    open var passwordExpiration: EmbeddedResponse.Policy.Password.PasswordExpiration? { passwordPolicy?.expiration }

    /// What a new password is made of; nil where the answer does not say.
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
        statusType = .passwordWarning
    }

    /// Whether the password can be changed.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canChange() -> Bool { model.links?.next != nil }

    /// Changes the password.
    ///
    /// - Parameters:
    ///   - oldPassword: The password so far.
    ///   - newPassword: The new password.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func changePassword(
        oldPassword: String, newPassword: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.next, "next", onStatusChange, onError) { link, token, completion in
            restApi.changePassword(
                link: link, stateToken: token, oldPassword: oldPassword, newPassword: newPassword, completion: completion)
        }
    }

    /// Whether it can be left for later.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canSkip() -> Bool { model.links?.skip != nil }

    /// Leaves the password as it is, and goes on.
    ///
    /// - Parameters:
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func skipPasswordChange(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.skip, "skip", onStatusChange, onError) { link, token, completion in
            restApi.perform(link: link, stateToken: token, completion: completion)
        }
    }
}

extension OktaAuthStatusPasswordWarning {
    /// Changes the password.
    ///
    /// - Parameters:
    ///   - oldPassword: The password so far.
    ///   - newPassword: The new password.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func changePassword(oldPassword: String, newPassword: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { changePassword(oldPassword: oldPassword, newPassword: newPassword, onStatusChange: $0, onError: $1) }
    }

    /// Leaves the password as it is, and goes on.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func skipPasswordChange() async throws -> OktaAuthStatus {
        try await MainQueue.value { skipPasswordChange(onStatusChange: $0, onError: $1) }
    }
}
