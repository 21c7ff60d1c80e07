/// A factor has to be enrolled, or may be.
open class OktaAuthStatusFactorEnroll: OktaAuthStatus {
    /// Names the transaction in each further request.
    public internal(set) var stateToken: String

    /// The factors that the answer lists, those that can't be enrolled now among them.
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
        statusType = .MFAEnroll
    }

    /// Whether a factor can be enrolled.
    ///
    /// - Parameter factor: One of ``availableFactors``.
    /// - Returns: Whether the factor has the link for it.
    open func canEnrollFactor(factor: OktaFactor) -> Bool { factor.canEnroll() }

    /// Whether it can be left out.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canSkipEnrollment() -> Bool { model.links?.skip != nil }

    /// Leaves it out, and goes on.
    ///
    /// - Parameters:
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func skipEnrollment(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.skip, "skip", onStatusChange, onError) { link, token, completion in
            restApi.perform(link: link, stateToken: token, completion: completion)
        }
    }

    /// Enrols a factor with what its kind needs.
    ///
    /// - Parameters:
    ///   - factor: One of ``availableFactors``.
    ///   - questionId: The key of a question.
    ///   - answer: The answer to it.
    ///   - credentialId: The account or the serial number of a token.
    ///   - passCode: The current code of a token.
    ///   - phoneNumber: The number in E.164.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func enrollFactor(
        factor: OktaFactor, questionId: String?, answer: String?, credentialId: String?, passCode: String?, phoneNumber: String?,
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        factor.enroll(
            questionId: questionId, answer: answer, credentialId: credentialId, passCode: passCode, phoneNumber: phoneNumber,
            onStatusChange: onStatusChange, onError: onError)
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

extension OktaAuthStatusFactorEnroll {
    /// Leaves it out, and goes on.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func skipEnrollment() async throws -> OktaAuthStatus {
        try await MainQueue.value { skipEnrollment(onStatusChange: $0, onError: $1) }
    }

    /// Enrols a factor with what its kind needs.
    ///
    /// - Parameters:
    ///   - factor: One of ``availableFactors``.
    ///   - questionId: The key of a question.
    ///   - answer: The answer to it.
    ///   - credentialId: The account or the serial number of a token.
    ///   - passCode: The current code of a token.
    ///   - phoneNumber: The number in E.164.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func enrollFactor(
        factor: OktaFactor, questionId: String? = nil, answer: String? = nil, credentialId: String? = nil, passCode: String? = nil,
        phoneNumber: String? = nil
    ) async throws -> OktaAuthStatus {
        try await MainQueue.value {
            enrollFactor(
                factor: factor, questionId: questionId, answer: answer, credentialId: credentialId, passCode: passCode,
                phoneNumber: phoneNumber, onStatusChange: $0, onError: $1)
        }
    }
}

extension OktaAuthStatusFactorEnroll: OktaFactorResultProtocol {}
