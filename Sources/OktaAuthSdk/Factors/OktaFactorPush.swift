/// An approval on a device.
open class OktaFactorPush: OktaFactor {
    /// The challenge that waits.
    public var challenge: EmbeddedResponse.Factor.Embedded.Challenge? { factor.embedded?.challenge }

    /// The number to pick on the device, while it asks for one; show it to the person.
    public var correctAnswer: Int? { challenge?.correctAnswer }

    /// What the activation needs; nil once the factor is active.
    public var activation: EmbeddedResponse.Factor.Embedded.Activation? { factor.embedded?.activation }

    /// The activation's links.
    public var activationLinks: LinksResponse? { activation?.links }

    /// The image of the code to scan.
    public var qrCodeLink: LinksResponse.QRCode? { activationLinks?.qrcode }

    /// The ways to deliver the activation link.
    public var sendLinks: [LinksResponse.Link]? { activationLinks?.send }

    /// Whether the activation link can be sent by text message.
    ///
    /// - Returns: Whether the activation has the link for it.
    public func canSendPushCodeViaSms() -> Bool { codeViaSmsLink() != nil }

    /// Where to ask for it.
    ///
    /// - Returns: The link; nil if there is none.
    public func codeViaSmsLink() -> LinksResponse.Link? { sendLinks?.first { $0.name == "sms" } }

    /// Whether the activation link can be sent by e-mail.
    ///
    /// - Returns: Whether the activation has the link for it.
    public func canSendPushCodeViaEmail() -> Bool { codeViaEmailLink() != nil }

    /// Where to ask for it.
    ///
    /// - Returns: The link; nil if there is none.
    public func codeViaEmailLink() -> LinksResponse.Link? { sendLinks?.first { $0.name == "email" } }

    /// Enrols a device: the next status has the code to scan, and ways to deliver a link.
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

    /// Asks whether the device has been activated; begins anew after the time ran out.
    ///
    /// - Parameters:
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func activate(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        activate(passCode: nil, onStatusChange: onStatusChange, onError: onError)
    }

    /// Sends a push, or asks for the result while one waits.
    ///
    /// - Parameters:
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func verify(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        verify(passCode: nil, answerToSecurityQuestion: nil, onStatusChange: onStatusChange, onError: onError)
    }

    /// Asks once for what became of the activation or of the push. Ask again every three to five seconds while it is `.waiting`.
    ///
    /// - Parameters:
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func checkFactorResult(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        guard activationLink == nil else { return activate(passCode: nil, onStatusChange: onStatusChange, onError: onError) }
        verify(passCode: nil, answerToSecurityQuestion: nil, onStatusChange: onStatusChange, onError: onError)
    }

    /// Has the activation link sent by text message.
    ///
    /// - Parameters:
    ///   - phoneNumber: The number in E.164.
    ///   - onSuccess: Is called when it is on its way, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func sendActivationLinkViaSms(
        with phoneNumber: String, onSuccess: @escaping () -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        sendLink(codeViaSmsLink(), "sms", phoneNumber: phoneNumber, onSuccess, onError)
    }

    /// Has the activation link sent by e-mail.
    ///
    /// - Parameters:
    ///   - onSuccess: Is called when it is on its way, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
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
    /// Enrols a device: the next status has the code to scan, and ways to deliver a link.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func enroll() async throws -> OktaAuthStatus {
        try await MainQueue.value { enroll(onStatusChange: $0, onError: $1) }
    }

    /// Asks whether the device has been activated; begins anew after the time ran out.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func activate() async throws -> OktaAuthStatus {
        try await MainQueue.value { activate(onStatusChange: $0, onError: $1) }
    }

    /// Sends a push, or asks for the result while one waits.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func verify() async throws -> OktaAuthStatus {
        try await MainQueue.value { verify(onStatusChange: $0, onError: $1) }
    }

    /// Asks once for what became of the activation or of the push. Ask again every three to five seconds while it is `.waiting`.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func checkFactorResult() async throws -> OktaAuthStatus {
        try await MainQueue.value { checkFactorResult(onStatusChange: $0, onError: $1) }
    }

    /// Has the activation link sent by text message.
    ///
    /// - Parameter phoneNumber: The number in E.164.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func sendActivationLinkViaSms(with phoneNumber: String) async throws {
        try await MainQueue.value { onValue, onError in
            sendActivationLinkViaSms(with: phoneNumber, onSuccess: { onValue(()) }, onError: onError)
        }
    }

    /// Has the activation link sent by e-mail.
    ///
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func sendActivationLinkViaEmail() async throws {
        try await MainQueue.value { onValue, onError in sendActivationLinkViaEmail(onSuccess: { onValue(()) }, onError: onError) }
    }
}
