/// The status of a recovery that waits for the code that the server has sent to the user. An email contains a link instead of a code; the
/// recovery continues in the app or browser that opens the link.
open class OktaAuthStatusRecoveryChallenge: OktaAuthStatus {
    /// The state token, which identifies the transaction in later requests; `nil` for email.
    open var stateToken: String? { model.stateToken }

    /// The purpose of the recovery.
    open var recoveryType: OktaAPISuccessResponse.RecoveryType? { model.recoveryType }

    /// The channel of the recovery message.
    open var factorType: FactorType? { model.factorType }

    /// Creates the status of a response.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        try super.init(currentState: currentState, model: model)
        statusType = .recoveryChallenge
    }

    /// Whether a code can be verified.
    open func canVerify() -> Bool { model.links?.next != nil }

    /// Whether the code can be resent.
    open func canResend() -> Bool { resendLink != nil }

    private var resendLink: LinksResponse.Link? { model.links?.resend?.link(for: factorType) }

    /// Verifies the code.
    open func verifyFactor(
        passCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.next, "next", onStatusChange, onError) { link, token, completion in
            restApi.verifyFactor(with: link, stateToken: token, passCode: passCode, completion: completion)
        }
    }

    /// Verifies a recovery token.
    open func verifyFactor(
        recoveryToken: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.next, "next", onStatusChange, onError) { link, token, completion in
            restApi.verifyFactor(with: link, stateToken: token, recoveryToken: recoveryToken, completion: completion)
        }
    }

    /// Sends another code.
    open func resendFactor(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(resendLink, "resend", onStatusChange, onError)
    }
}

extension OktaAuthStatusRecoveryChallenge {
    /// Verifies the code.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func verifyFactor(passCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { verifyFactor(passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Verifies a recovery token.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func verifyFactor(recoveryToken: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { verifyFactor(recoveryToken: recoveryToken, onStatusChange: $0, onError: $1) }
    }

    /// Sends another code.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func resendFactor() async throws -> OktaAuthStatus {
        try await MainQueue.value { resendFactor(onStatusChange: $0, onError: $1) }
    }
}
