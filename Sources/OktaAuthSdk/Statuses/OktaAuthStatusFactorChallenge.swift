/// The status in which the challenge of a factor is pending.
open class OktaAuthStatusFactorChallenge: OktaAuthStatus {
    /// The state token, which identifies the transaction in later requests.
    public internal(set) var stateToken: String

    /// The factor of the challenge.
    open lazy var factor: OktaFactor = attach(described, verifyLink: model.links?.next, activationLink: nil)

    private let described: EmbeddedResponse.Factor

    /// Creates the status of a response.
    /// - Throws: `OktaError.invalidResponse` if the response lacks a value that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        stateToken = try model.stateToken.required("it has no state token")
        described = try (model.embedded?.factor).required("it has no factor")
        try super.init(currentState: currentState, model: model)
        statusType = .MFAChallenge
    }

    /// Whether the challenge can be answered or polled.
    open func canVerify() -> Bool { model.links?.next != nil }

    /// Whether the code or the push can be resent.
    open func canResend() -> Bool { resendLink != nil }

    /// Whether the app can poll for the result.
    override open func canPoll() -> Bool { model.links?.next.map { $0.name == "poll" || described.factorType == .push } ?? false }

    /// Answers the challenge.
    /// - Parameters:
    ///   - passCode: The code; `nil` for factors without a code.
    ///   - answerToSecurityQuestion: The answer to the security question; `nil` for other factors.
    open func verifyFactor(
        passCode: String?, answerToSecurityQuestion: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        factor.verify(
            passCode: passCode, answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: onStatusChange, onError: onError)
    }

    private var resendLink: LinksResponse.Link? { model.links?.resend?.link(for: described.factorType) }

    /// Resends the code or the push.
    open func resendFactor(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(resendLink, "resend", onStatusChange, onError)
    }

    /// Handles the response to a factor's request.
    public func handleFactorServerResponse(
        response: OktaAPIRequest.Result, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        receive(response, token: stateToken, onStatusChange, onError)
    }
}

extension OktaAuthStatusFactorChallenge {
    /// Answers the challenge.
    /// - Parameters:
    ///   - passCode: The code; `nil` for factors without a code.
    ///   - answerToSecurityQuestion: The answer to the security question; `nil` for other factors.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func verifyFactor(passCode: String? = nil, answerToSecurityQuestion: String? = nil) async throws -> OktaAuthStatus {
        try await MainQueue.value {
            verifyFactor(passCode: passCode, answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: $0, onError: $1)
        }
    }

    /// Resends the code or the push.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func resendFactor() async throws -> OktaAuthStatus {
        try await MainQueue.value { resendFactor(onStatusChange: $0, onError: $1) }
    }
}

extension OktaAuthStatusFactorChallenge: OktaFactorResultProtocol {}
