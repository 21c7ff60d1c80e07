/// A factor was enrolled, and waits for its activation.
open class OktaAuthStatusFactorEnrollActivate: OktaAuthStatus {
    /// Names the transaction in each further request.
    public internal(set) var stateToken: String

    /// The factor.
    open lazy var factor: OktaFactor = attach(described, verifyLink: nil, activationLink: activateLink)

    private let described: EmbeddedResponse.Factor

    /// Activates the factor, or asks whether it is.
    public let activateLink: LinksResponse.Link

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
        guard let activateLink = model.links?.next else { throw OktaError.invalidResponse("it has no link to activate the factor") }
        self.activateLink = activateLink
        try super.init(currentState: currentState, model: model)
        statusType = .MFAEnrollActivate
    }

    /// Whether a code can be sent again.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canResend() -> Bool { resendLink != nil }

    /// Whether a code can be sent again.
    ///
    /// - Parameter factor: The factor of this status.
    /// - Returns: Whether the answer has the link for it.
    open func canResend(factor: OktaFactor) -> Bool { canResend() }

    /// Whether the result can be asked for again and again.
    ///
    /// - Returns: Whether the answer has the link for it.
    override open func canPoll() -> Bool { model.links?.next.map { $0.name == "poll" || described.factorType == .push } ?? false }

    /// Activates the factor.
    ///
    /// - Parameters:
    ///   - passCode: The code; nil for factors that have none.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func activateFactor(
        passCode: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        factor.activate(passCode: passCode, onStatusChange: onStatusChange, onError: onError)
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

extension OktaAuthStatusFactorEnrollActivate {
    /// Activates the factor.
    ///
    /// - Parameter passCode: The code; nil for factors that have none.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func activateFactor(passCode: String? = nil) async throws -> OktaAuthStatus {
        try await MainQueue.value { activateFactor(passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Has a code sent again.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func resendFactor() async throws -> OktaAuthStatus {
        try await MainQueue.value { resendFactor(onStatusChange: $0, onError: $1) }
    }
}

extension OktaAuthStatusFactorEnrollActivate: OktaFactorResultProtocol {}
