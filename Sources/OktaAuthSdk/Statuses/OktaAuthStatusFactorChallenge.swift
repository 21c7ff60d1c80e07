/// A factor's challenge waits for its answer.
open class OktaAuthStatusFactorChallenge: OktaAuthStatus {
    /// Names the transaction in each further request.
    public internal(set) var stateToken: String

    /// The factor.
    open lazy var factor: OktaFactor = attach(described, verifyLink: model.links?.next, activationLink: nil)

    private let described: EmbeddedResponse.Factor

    /// Takes the place of another status after an answer.
    ///
    /// - Parameters:
    ///   - currentState: The status so far.
    ///   - model: The answer.
    /// - Throws: `OktaError.invalidResponse` if the answer lacks something that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        guard let stateToken = model.stateToken else { throw OktaError.invalidResponse("it has no state token") }
        self.stateToken = stateToken
        guard let described = model.embedded?.factor else { throw OktaError.invalidResponse("it has no factor") }
        self.described = described
        try super.init(currentState: currentState, model: model)
        statusType = .MFAChallenge
    }

    /// Whether the challenge can be answered, or its result asked for.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canVerify() -> Bool { model.links?.next != nil }

    /// Whether a code or a push can be sent again.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canResend() -> Bool { resendLink != nil }

    /// Whether the result can be asked for again and again.
    ///
    /// - Returns: Whether the answer has the link for it.
    override open func canPoll() -> Bool { model.links?.next.map { $0.name == "poll" || described.factorType == .push } ?? false }

    /// Answers the challenge.
    ///
    /// - Parameters:
    ///   - passCode: The code; nil for factors that have none.
    ///   - answerToSecurityQuestion: The answer to a question; nil for other factors.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func verifyFactor(
        passCode: String?, answerToSecurityQuestion: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        factor.verify(
            passCode: passCode, answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: onStatusChange, onError: onError)
    }

    private var resendLink: LinksResponse.Link? { model.links?.resend?.link(for: described.factorType) }

    /// Has a code or a push sent again.
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

    /// Takes the answer to a factor's request.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func handleFactorServerResponse(
        response: OktaAPIRequest.Result, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        receive(response, token: stateToken, onStatusChange, onError)
    }
}

extension OktaAuthStatusFactorChallenge {
    /// Answers the challenge.
    ///
    /// - Parameters:
    ///   - passCode: The code; nil for factors that have none.
    ///   - answerToSecurityQuestion: The answer to a question; nil for other factors.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func verifyFactor(passCode: String? = nil, answerToSecurityQuestion: String? = nil) async throws -> OktaAuthStatus {
        try await MainQueue.value {
            verifyFactor(passCode: passCode, answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: $0, onError: $1)
        }
    }

    /// Has a code or a push sent again.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func resendFactor() async throws -> OktaAuthStatus {
        try await MainQueue.value { resendFactor(onStatusChange: $0, onError: $1) }
    }
}

extension OktaAuthStatusFactorChallenge: OktaFactorResultProtocol {}
