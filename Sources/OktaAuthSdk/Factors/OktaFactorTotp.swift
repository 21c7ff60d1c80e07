/// A factor that is verified with a code from an authenticator app.
open class OktaFactorTotp: OktaFactor {
    /// The data for the activation; `nil` for an active factor.
    public var activation: EmbeddedResponse.Factor.Embedded.Activation? { factor.embedded?.activation }

    /// The links of the activation; `nil` for an active factor.
    public var activationLinks: LinksResponse? { activation?.links }

    /// The link to the image of the QR code; `nil` for an active factor.
    public var qrCodeLink: LinksResponse.QRCode? { activationLinks?.qrcode }

    /// Enrolls an authenticator app. The next status contains the secret and a QR code.
    public func enroll(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        enroll(
            questionId: nil, answer: nil, credentialId: nil, passCode: nil, phoneNumber: nil,
            onStatusChange: onStatusChange, onError: onError)
    }

    /// Activates the factor with the app's code.
    public func activate(
        passCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        activate(passCode: Optional(passCode), onStatusChange: onStatusChange, onError: onError)
    }

    /// Selects the factor and verifies its code in one step.
    public func select(
        passCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        select(passCode: passCode, answer: nil, onStatusChange, onError)
    }

    /// Verifies a code.
    public func verify(
        passCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        verify(passCode: passCode, answerToSecurityQuestion: nil, onStatusChange: onStatusChange, onError: onError)
    }
}

extension OktaFactorTotp {
    /// Enrolls an authenticator app. The next status contains the secret and a QR code.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func enroll() async throws -> OktaAuthStatus {
        try await MainQueue.value { enroll(onStatusChange: $0, onError: $1) }
    }

    /// Activates the factor with the app's code.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func activate(passCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { activate(passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Selects the factor and verifies its code in one step.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func select(passCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { select(passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Verifies a code.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func verify(passCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { verify(passCode: passCode, onStatusChange: $0, onError: $1) }
    }
}
