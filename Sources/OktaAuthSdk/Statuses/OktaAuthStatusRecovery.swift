/// The status of a recovery that waits for the answer to the user's security question.
open class OktaAuthStatusRecovery: OktaAuthStatus {
    /// The state token, which identifies the transaction in later requests; empty if the transaction starts with ``recoveryToken``.
    public internal(set) var stateToken: String

    /// The text of the security question.
    open var recoveryQuestion: String? { model.embedded?.user?.recoveryQuestion?.question }

    /// The token that starts the recovery; only for callers that the server trusts.
    open var recoveryToken: String? { model.recoveryToken }

    /// The purpose of the recovery; `nil` if the response does not contain it.
    open var recoveryType: OktaAPISuccessResponse.RecoveryType? { model.recoveryType }

    /// Creates the status of a response.
    /// - Throws: `OktaError.invalidResponse` if the response lacks a value that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        guard let stateToken = model.stateToken ?? model.recoveryToken.map({ _ in "" }) else {
            throw OktaError.invalidResponse("it has no state token")
        }
        self.stateToken = stateToken
        try super.init(currentState: currentState, model: model)
        statusType = .recovery
    }

    /// Whether the recovery can continue.
    open func canRecover() -> Bool { model.links?.next != nil }

    /// Answers the user's security question.
    open func recoverWithAnswer(
        _ answer: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        recover(answer: answer, recoveryToken: nil, onStatusChange, onError)
    }

    /// Starts the transaction of a recovery token.
    open func recoverWithToken(
        _ recoveryToken: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        recover(answer: nil, recoveryToken: recoveryToken, onStatusChange, onError)
    }

    private func recover(
        answer: String?, recoveryToken: String?, _ onStatusChange: @escaping (OktaAuthStatus) -> Void,
        _ onError: @escaping (OktaError) -> Void
    ) {
        follow(model.links?.next, "next", token: stateToken, onStatusChange, onError) { link, token, completion in
            restApi.recoverWith(answer: answer, stateToken: token, recoveryToken: recoveryToken, link: link, completion: completion)
        }
    }
}

extension OktaAuthStatusRecovery {
    /// Answers the user's security question.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func recoverWithAnswer(_ answer: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { recoverWithAnswer(answer, onStatusChange: $0, onError: $1) }
    }

    /// Starts the transaction of a recovery token.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func recoverWithToken(_ recoveryToken: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { recoverWithToken(recoveryToken, onStatusChange: $0, onError: $1) }
    }
}
