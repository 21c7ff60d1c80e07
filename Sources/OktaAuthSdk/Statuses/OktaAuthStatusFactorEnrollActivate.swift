/// The status in which the activation of an enrolled factor is pending.
open class OktaAuthStatusFactorEnrollActivate: OktaAuthStatus {
    /// The state token, which identifies the transaction in later requests.
    public internal(set) var stateToken: String

    /// The enrolled factor.
    open lazy var factor: OktaFactor = attach(described, verifyLink: nil, activationLink: activateLink)

    private let described: EmbeddedResponse.Factor

    /// The link that activates the factor or checks its activation.
    public let activateLink: LinksResponse.Link

    /// Creates the status of a response.
    /// - Throws: `OktaError.invalidResponse` if the response lacks a value that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        stateToken = try model.stateToken.required("it has no state token")
        described = try (model.embedded?.factor).required("it has no factor")
        activateLink = try (model.links?.next).required("it has no link to activate the factor")
        try super.init(currentState: currentState, model: model)
        statusType = .MFAEnrollActivate
    }

    /// Whether the code can be resent.
    open func canResend() -> Bool { resendLink != nil }

    /// Whether the code can be resent.
    /// - Parameter factor: Ignored.
    open func canResend(factor: OktaFactor) -> Bool { canResend() }

    /// Whether the app can poll for the result.
    override open func canPoll() -> Bool { model.links?.next.map { $0.name == "poll" || described.factorType == .push } ?? false }

    /// Activates the factor.
    /// - Parameter passCode: The code; `nil` for factors without a code.
    open func activateFactor(
        passCode: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        factor.activate(passCode: passCode, onStatusChange: onStatusChange, onError: onError)
    }

    private var resendLink: LinksResponse.Link? { model.links?.resend?.link(for: described.factorType) }

    /// Resends the code.
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

extension OktaAuthStatusFactorEnrollActivate {
    /// Activates the factor.
    /// - Parameter passCode: The code; `nil` for factors without a code.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func activateFactor(passCode: String? = nil) async throws -> OktaAuthStatus {
        try await MainQueue.value { activateFactor(passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Resends the code.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func resendFactor() async throws -> OktaAuthStatus {
        try await MainQueue.value { resendFactor(onStatusChange: $0, onError: $1) }
    }
}

extension OktaAuthStatusFactorEnrollActivate: OktaFactorResultProtocol {}
