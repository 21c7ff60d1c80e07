/// A factor that is verified with a push notification, which the user approves on a device.
open class OktaFactorPush: OktaFactor {
    /// The pending challenge; `nil` without a challenge.
    public var challenge: EmbeddedResponse.Factor.Embedded.Challenge? { factor.embedded?.challenge }

    /// The number that the user must select on the device; `nil` without number matching. Show the number to the user.
    public var correctAnswer: Int? { challenge?.correctAnswer }

    /// The data for the activation; `nil` for an active factor.
    public var activation: EmbeddedResponse.Factor.Embedded.Activation? { factor.embedded?.activation }

    /// The links of the activation; `nil` for an active factor.
    public var activationLinks: LinksResponse? { activation?.links }

    /// The link to the image of the QR code; `nil` without a pending activation.
    public var qrCodeLink: LinksResponse.QRCode? { activationLinks?.qrcode }

    /// The links that send the user the activation link.
    public var sendLinks: [LinksResponse.Link]? { activationLinks?.send }

    /// Whether the activation link can be sent in a text message.
    public func canSendPushCodeViaSms() -> Bool { codeViaSmsLink() != nil }

    /// The link to request it, or `nil`.
    public func codeViaSmsLink() -> LinksResponse.Link? { sendLinks?.first { $0.name == "sms" } }

    /// Whether the activation link can be sent by email.
    public func canSendPushCodeViaEmail() -> Bool { codeViaEmailLink() != nil }

    /// The link to request it, or `nil`.
    public func codeViaEmailLink() -> LinksResponse.Link? { sendLinks?.first { $0.name == "email" } }

    /// Enrolls a device. The next status contains a QR code and links to send the activation link.
    public func enroll(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        enroll(
            questionId: nil, answer: nil, credentialId: nil, passCode: nil, phoneNumber: nil,
            onStatusChange: onStatusChange, onError: onError)
    }

    /// Checks whether the device has been activated. Restarts an expired activation.
    public func activate(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        activate(passCode: nil, onStatusChange: onStatusChange, onError: onError)
    }

    /// Sends a push, or checks the result of a pending push.
    public func verify(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        verify(passCode: nil, answerToSecurityQuestion: nil, onStatusChange: onStatusChange, onError: onError)
    }

    /// Checks the result of the activation or the push once. Repeat every three to five seconds while the result is `.waiting`.
    public func checkFactorResult(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        guard activationLink == nil else { return activate(passCode: nil, onStatusChange: onStatusChange, onError: onError) }
        verify(passCode: nil, answerToSecurityQuestion: nil, onStatusChange: onStatusChange, onError: onError)
    }

    /// Sends the activation link in a text message.
    /// - Parameters:
    ///   - phoneNumber: The phone number in E.164 format.
    ///   - onSuccess: Called when the server has accepted the request.
    public func sendActivationLinkViaSms(
        with phoneNumber: String, onSuccess: @escaping () -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        sendLink(codeViaSmsLink(), "sms", phoneNumber: phoneNumber, onSuccess, onError)
    }

    /// Sends the activation link by email.
    /// - Parameter onSuccess: Called when the server has accepted the request.
    public func sendActivationLinkViaEmail(
        onSuccess: @escaping () -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        sendLink(codeViaEmailLink(), "email", phoneNumber: nil, onSuccess, onError)
    }

    private func sendLink(
        _ link: LinksResponse.Link?, _ name: String, phoneNumber: String?, _ onSuccess: @escaping () -> Void,
        _ onError: @escaping (OktaError) -> Void
    ) {
        guard let link else { return refuse(.missing("send (\(name))"), onError) }
        guard let restApi else { return refuse(.detached, onError) }
        restApi.sendActivationLink(link: link, stateToken: stateToken, phoneNumber: phoneNumber) { result in
            switch result {
            case .success: onSuccess()
            case .error(let error): onError(error)
            }
        }
    }
}

extension OktaFactorPush {
    /// Enrolls a device. The next status contains a QR code and links to send the activation link.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func enroll() async throws -> OktaAuthStatus {
        try await MainQueue.value { enroll(onStatusChange: $0, onError: $1) }
    }

    /// Checks whether the device has been activated. Restarts an expired activation.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func activate() async throws -> OktaAuthStatus {
        try await MainQueue.value { activate(onStatusChange: $0, onError: $1) }
    }

    /// Sends a push, or checks the result of a pending push.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func verify() async throws -> OktaAuthStatus {
        try await MainQueue.value { verify(onStatusChange: $0, onError: $1) }
    }

    /// Checks the result of the activation or the push once. Repeat every three to five seconds while the result is `.waiting`.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func checkFactorResult() async throws -> OktaAuthStatus {
        try await MainQueue.value { checkFactorResult(onStatusChange: $0, onError: $1) }
    }

    /// Sends the activation link in a text message.
    /// - Parameter phoneNumber: The phone number in E.164 format.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func sendActivationLinkViaSms(with phoneNumber: String) async throws {
        try await MainQueue.value { onValue, onError in
            sendActivationLinkViaSms(with: phoneNumber, onSuccess: { onValue(()) }, onError: onError)
        }
    }

    /// Sends the activation link by email.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func sendActivationLinkViaEmail() async throws {
        try await MainQueue.value { onValue, onError in sendActivationLinkViaEmail(onSuccess: { onValue(()) }, onError: onError) }
    }
}
