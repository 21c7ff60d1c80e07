/// The status in which the password is correct but has expired. The user must change it.
open class OktaAuthStatusPasswordExpired: OktaAuthStatus {
    /// The state token, which identifies the transaction in later requests.
    public internal(set) var stateToken: String

    /// The days until the password expires; `nil` if the response does not contain them.
    open var passwordExpiration: EmbeddedResponse.Policy.Password.PasswordExpiration? { passwordPolicy?.expiration }

    /// The complexity rules for a new password; `nil` if the response does not contain them.
    open var passwordComplexity: EmbeddedResponse.Policy.Password.PasswordComplexity? { passwordPolicy?.complexity }

    /// Creates the status of a response.
    /// - Throws: `OktaError.invalidResponse` if the response lacks a value that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        stateToken = try model.stateToken.required("it has no state token")
        try super.init(currentState: currentState, model: model)
        statusType = .passwordExpired
    }

    /// Whether the password can be changed.
    open func canChange() -> Bool { model.links?.next != nil }

    /// Changes the password.
    open func changePassword(
        oldPassword: String, newPassword: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.next, "next", onStatusChange, onError) { link, token, completion in
            restApi.changePassword(
                link: link, stateToken: token, oldPassword: oldPassword, newPassword: newPassword, completion: completion)
        }
    }
}

extension OktaAuthStatusPasswordExpired {
    /// Changes the password.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func changePassword(oldPassword: String, newPassword: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { changePassword(oldPassword: oldPassword, newPassword: newPassword, onStatusChange: $0, onError: $1) }
    }
}
