/// A code by text message.
open class OktaFactorSms: OktaFactor {
    /// The number, masked.
    public var phoneNumber: String? { factor.profile?.phoneNumber }

    /// Enrols the number; a code comes by text message.
    ///
    /// - Parameters:
    ///   - phoneNumber: The number in E.164; nil for the one that is verified already.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func enroll(
        phoneNumber: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        enroll(
            questionId: nil, answer: nil, credentialId: nil, passCode: nil, phoneNumber: phoneNumber,
            onStatusChange: onStatusChange, onError: onError)
    }

    /// Verifies the code.
    ///
    /// - Parameters:
    ///   - passCode: The code.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func verify(
        passCode: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        verify(passCode: passCode, answerToSecurityQuestion: nil, onStatusChange: onStatusChange, onError: onError)
    }
}

extension OktaFactorSms {
    /// Enrols the number; a code comes by text message.
    ///
    /// - Parameter phoneNumber: The number in E.164; nil for the one that is verified already.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func enroll(phoneNumber: String?) async throws -> OktaAuthStatus {
        try await MainQueue.value { enroll(phoneNumber: phoneNumber, onStatusChange: $0, onError: $1) }
    }

    /// Verifies the code.
    ///
    /// - Parameter passCode: The code.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func verify(passCode: String?) async throws -> OktaAuthStatus {
        try await MainQueue.value { verify(passCode: passCode, onStatusChange: $0, onError: $1) }
    }
}
