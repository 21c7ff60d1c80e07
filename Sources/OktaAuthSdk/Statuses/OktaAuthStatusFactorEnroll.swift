/// The status in which the user must or may enroll a factor.
open class OktaAuthStatusFactorEnroll: OktaAuthStatus {
    /// The state token, which identifies the transaction in later requests.
    public internal(set) var stateToken: String

    /// The factors in the response, including those that cannot be enrolled now.
    open lazy var availableFactors: [OktaFactor] = factors.map { attach($0, verifyLink: nil, activationLink: nil) }

    private let factors: [EmbeddedResponse.Factor]

    /// Creates the status of a response.
    /// - Throws: `OktaError.invalidResponse` if the response lacks a value that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        stateToken = try model.stateToken.required("it has no state token")
        factors = try (model.embedded?.factors).required("it lists no factors")
        try super.init(currentState: currentState, model: model)
        statusType = .MFAEnroll
    }

    /// Whether a factor can be enrolled.
    /// - Parameter factor: A factor from ``availableFactors``.
    open func canEnrollFactor(factor: OktaFactor) -> Bool { factor.canEnroll() }

    /// Whether the enrollment can be skipped.
    open func canSkipEnrollment() -> Bool { model.links?.skip != nil }

    /// Skips the enrollment.
    open func skipEnrollment(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.skip, "skip", onStatusChange, onError)
    }

    /// Enrolls a factor. Pass the values that its type needs.
    /// - Parameters:
    ///   - factor: A factor from ``availableFactors``.
    ///   - questionId: The key of the security question.
    ///   - answer: The answer to the security question.
    ///   - credentialId: The account or serial number of a token.
    ///   - passCode: The current code of a token.
    ///   - phoneNumber: The phone number in E.164 format.
    open func enrollFactor(
        factor: OktaFactor, questionId: String?, answer: String?, credentialId: String?, passCode: String?, phoneNumber: String?,
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        factor.enroll(
            questionId: questionId, answer: answer, credentialId: credentialId, passCode: passCode, phoneNumber: phoneNumber,
            onStatusChange: onStatusChange, onError: onError)
    }

    /// Handles the response to a factor's request.
    public func handleFactorServerResponse(
        response: OktaAPIRequest.Result, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        receive(response, token: stateToken, onStatusChange, onError)
    }
}

extension OktaAuthStatusFactorEnroll {
    /// Skips the enrollment.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func skipEnrollment() async throws -> OktaAuthStatus {
        try await MainQueue.value { skipEnrollment(onStatusChange: $0, onError: $1) }
    }

    /// Enrolls a factor. Pass the values that its type needs.
    /// - Parameters:
    ///   - factor: A factor from ``availableFactors``.
    ///   - questionId: The key of the security question.
    ///   - answer: The answer to the security question.
    ///   - credentialId: The account or serial number of a token.
    ///   - passCode: The current code of a token.
    ///   - phoneNumber: The phone number in E.164 format.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
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
