/// The status in which the user must select one of the enrolled factors.
open class OktaAuthStatusFactorRequired: OktaAuthStatus {
    /// The state token, which identifies the transaction in later requests.
    public internal(set) var stateToken: String

    /// The factors in the response, including those that cannot be selected now.
    open lazy var availableFactors: [OktaFactor] = factors.map { attach($0, verifyLink: nil, activationLink: nil) }

    private let factors: [EmbeddedResponse.Factor]

    /// Creates the status of a response.
    /// - Throws: `OktaError.invalidResponse` if the response lacks a value that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        stateToken = try model.stateToken.required("it has no state token")
        factors = try (model.embedded?.factors).required("it lists no factors")
        try super.init(currentState: currentState, model: model)
        statusType = .MFARequired
    }

    /// Selects a factor. The server then sends a code or a push, or asks the security question.
    /// - Parameter factor: A factor from ``availableFactors``.
    open func selectFactor(
        _ factor: OktaFactor, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        factor.select(onStatusChange: onStatusChange, onError: onError)
    }

    /// Handles the response to a factor's request.
    public func handleFactorServerResponse(
        response: OktaAPIRequest.Result, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        receive(response, token: stateToken, onStatusChange, onError)
    }
}

extension OktaAuthStatusFactorRequired {
    /// Selects a factor. The server then sends a code or a push, or asks the security question.
    /// - Parameter factor: A factor from ``availableFactors``.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func selectFactor(_ factor: OktaFactor) async throws -> OktaAuthStatus {
        try await MainQueue.value { selectFactor(factor, onStatusChange: $0, onError: $1) }
    }
}

extension OktaAuthStatusFactorRequired: OktaFactorResultProtocol {}
