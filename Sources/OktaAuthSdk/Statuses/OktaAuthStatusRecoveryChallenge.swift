/// A recovery waits for the code that the person got. By e-mail they got a link instead, and it goes on where that is opened.
open class OktaAuthStatusRecoveryChallenge: OktaAuthStatus {
    /// Names the transaction in each further request; nil for e-mail.
    open var stateToken: String? { model.stateToken }

    /// What the recovery is for.
    open var recoveryType: OktaAPISuccessResponse.RecoveryType? { model.recoveryType }

    /// How the person was reached.
    open var factorType: FactorType? { model.factorType }

    /// Takes the place of another status after an answer.
    ///
    /// - Parameters:
    ///   - currentState: The status so far.
    ///   - model: The answer.
    /// - Throws: `OktaError.invalidResponse` if the answer lacks something that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        try super.init(currentState: currentState, model: model)
        statusType = .recoveryChallenge
    }

    /// Whether a code can be verified.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canVerify() -> Bool { model.links?.next != nil }

    /// Whether a code can be sent again.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canResend() -> Bool { resendLink != nil }

    private var resendLink: LinksResponse.Link? { model.links?.resend?.link(for: factorType) }

    /// Verifies the code.
    ///
    /// - Parameters:
    ///   - passCode: The code.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func verifyFactor(
        passCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.next, "next", onStatusChange, onError) { link, token, completion in
            restApi.verifyFactor(with: link, stateToken: token, passCode: passCode, completion: completion)
        }
    }

    /// Verifies a recovery token.
    ///
    /// - Parameters:
    ///   - recoveryToken: The recovery token.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func verifyFactor(
        recoveryToken: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.next, "next", onStatusChange, onError) { link, token, completion in
            restApi.verifyFactor(with: link, stateToken: token, recoveryToken: recoveryToken, completion: completion)
        }
    }

    /// Has another code sent.
    ///
    /// - Parameters:
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func resendFactor(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(resendLink, "resend", onStatusChange, onError) { link, token, completion in
            restApi.perform(link: link, stateToken: token, completion: completion)
        }
    }
}

extension OktaAuthStatusRecoveryChallenge {
    /// Verifies the code.
    ///
    /// - Parameter passCode: The code.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func verifyFactor(passCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { verifyFactor(passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Verifies a recovery token.
    ///
    /// - Parameter recoveryToken: The recovery token.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func verifyFactor(recoveryToken: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { verifyFactor(recoveryToken: recoveryToken, onStatusChange: $0, onError: $1) }
    }

    /// Has another code sent.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func resendFactor() async throws -> OktaAuthStatus {
        try await MainQueue.value { resendFactor(onStatusChange: $0, onError: $1) }
    }
}
