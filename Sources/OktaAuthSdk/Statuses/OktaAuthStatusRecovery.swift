/// A recovery goes on with the answer to the person's question.
open class OktaAuthStatusRecovery: OktaAuthStatus {
    /// Names the transaction in each further request; empty where the transaction begins only with ``recoveryToken``.
    public internal(set) var stateToken: String

    /// The question's text.
    open var recoveryQuestion: String? { model.embedded?.user?.recoveryQuestion?.question }

    /// The token with which the recovery begins; for callers that the server trusts.
    open var recoveryToken: String? { model.recoveryToken }

    /// What the recovery is for; nil where the answer does not say.
    open var recoveryType: OktaAPISuccessResponse.RecoveryType? { model.recoveryType }

    /// Takes the place of another status after an answer.
    ///
    /// - Parameters:
    ///   - currentState: The status so far.
    ///   - model: The answer.
    /// - Throws: `OktaError.invalidResponse` if the answer lacks something that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        guard let stateToken = model.stateToken ?? model.recoveryToken.map({ _ in "" }) else {
            throw OktaError.invalidResponse("it has no state token")
        }
        self.stateToken = stateToken
        try super.init(currentState: currentState, model: model)
        statusType = .recovery
    }

    /// Whether the recovery can go on.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canRecover() -> Bool { model.links?.next != nil }

    /// Answers the person's question.
    ///
    /// - Parameters:
    ///   - answer: The answer to the question.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func recoverWithAnswer(
        _ answer: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        recover(answer: answer, recoveryToken: nil, onStatusChange, onError)
    }

    /// Begins the transaction of a recovery token.
    ///
    /// - Parameters:
    ///   - recoveryToken: The recovery token.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
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
    /// Answers the person's question.
    ///
    /// - Parameter answer: The answer to the question.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func recoverWithAnswer(_ answer: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { recoverWithAnswer(answer, onStatusChange: $0, onError: $1) }
    }

    /// Begins the transaction of a recovery token.
    ///
    /// - Parameter recoveryToken: The recovery token.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func recoverWithToken(_ recoveryToken: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { recoverWithToken(recoveryToken, onStatusChange: $0, onError: $1) }
    }
}
