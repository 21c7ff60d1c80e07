/// One of the person's factors has to be picked.
open class OktaAuthStatusFactorRequired: OktaAuthStatus {
    /// Names the transaction in each further request.
    public internal(set) var stateToken: String

    /// The factors that the answer lists, those that can't be picked now among them.
    open lazy var availableFactors: [OktaFactor] = factors.map { attach($0, verifyLink: nil, activationLink: nil) }

    private let factors: [EmbeddedResponse.Factor]

    /// Takes the place of another status after an answer.
    ///
    /// - Parameters:
    ///   - currentState: The status so far.
    ///   - model: The answer.
    /// - Throws: `OktaError.invalidResponse` if the answer lacks something that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        guard let stateToken = model.stateToken else { throw OktaError.invalidResponse("it has no state token") }
        self.stateToken = stateToken
        guard let factors = model.embedded?.factors else { throw OktaError.invalidResponse("it lists no factors") }
        self.factors = factors
        try super.init(currentState: currentState, model: model)
        statusType = .MFARequired
    }

    /// Picks a factor: a code or a push is sent, or its question asked.
    ///
    /// - Parameters:
    ///   - factor: One of ``availableFactors``.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func selectFactor(
        _ factor: OktaFactor, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        factor.select(onStatusChange: onStatusChange, onError: onError)
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

extension OktaAuthStatusFactorRequired {
    /// Picks a factor: a code or a push is sent, or its question asked.
    ///
    /// - Parameter factor: One of ``availableFactors``.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func selectFactor(_ factor: OktaFactor) async throws -> OktaAuthStatus {
        try await MainQueue.value { selectFactor(factor, onStatusChange: $0, onError: $1) }
    }
}

extension OktaAuthStatusFactorRequired: OktaFactorResultProtocol {}
