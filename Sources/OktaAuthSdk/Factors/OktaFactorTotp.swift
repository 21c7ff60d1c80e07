/// A code of an authenticator app.
open class OktaFactorTotp: OktaFactor {
    /// What the activation needs; nil once the factor is active.
    public var activation: EmbeddedResponse.Factor.Embedded.Activation? { factor.embedded?.activation }

    /// The activation's links.
    public var activationLinks: LinksResponse? { activation?.links }

    /// The image of the code to scan.
    public var qrCodeLink: LinksResponse.QRCode? { activationLinks?.qrcode }

    /// Enrols an authenticator app: the next status has the secret, and the code to scan.
    ///
    /// - Parameters:
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func enroll(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        enroll(
            questionId: nil, answer: nil, credentialId: nil, passCode: nil, phoneNumber: nil,
            onStatusChange: onStatusChange, onError: onError)
    }

    /// Activates the factor with the app's code.
    ///
    /// - Parameters:
    ///   - passCode: The code.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func activate(
        passCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        activate(passCode: Optional(passCode), onStatusChange: onStatusChange, onError: onError)
    }

    /// Picks the factor and verifies its code in one step.
    ///
    /// - Parameters:
    ///   - passCode: The code.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func select(
        passCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        select(passCode: passCode, answer: nil, onStatusChange, onError)
    }

    /// Verifies a code.
    ///
    /// - Parameters:
    ///   - passCode: The code.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func verify(
        passCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        verify(passCode: passCode, answerToSecurityQuestion: nil, onStatusChange: onStatusChange, onError: onError)
    }
}

extension OktaFactorTotp {
    /// Enrols an authenticator app: the next status has the secret, and the code to scan.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func enroll() async throws -> OktaAuthStatus {
        try await MainQueue.value { enroll(onStatusChange: $0, onError: $1) }
    }

    /// Activates the factor with the app's code.
    ///
    /// - Parameter passCode: The code.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func activate(passCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { activate(passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Picks the factor and verifies its code in one step.
    ///
    /// - Parameter passCode: The code.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func select(passCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { select(passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Verifies a code.
    ///
    /// - Parameter passCode: The code.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func verify(passCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { verify(passCode: passCode, onStatusChange: $0, onError: $1) }
    }
}
