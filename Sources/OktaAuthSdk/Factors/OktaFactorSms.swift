/// A factor that is verified with a code from a text message.
open class OktaFactorSms: OktaFactor {
    /// The masked phone number.
    public var phoneNumber: String? { factor.profile?.phoneNumber }

    /// Enrolls a phone number. The server sends a code to the number.
    /// - Parameter phoneNumber: The phone number in E.164 format; `nil` uses the verified number of the account.
    public func enroll(
        phoneNumber: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        enroll(
            questionId: nil, answer: nil, credentialId: nil, passCode: nil, phoneNumber: phoneNumber,
            onStatusChange: onStatusChange, onError: onError)
    }

    /// Verifies the code.
    public func verify(
        passCode: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        verify(passCode: passCode, answerToSecurityQuestion: nil, onStatusChange: onStatusChange, onError: onError)
    }
}

extension OktaFactorSms {
    /// Enrolls a phone number. The server sends a code to the number.
    /// - Parameter phoneNumber: The phone number in E.164 format; `nil` uses the verified number of the account.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func enroll(phoneNumber: String?) async throws -> OktaAuthStatus {
        try await MainQueue.value { enroll(phoneNumber: phoneNumber, onStatusChange: $0, onError: $1) }
    }

    /// Verifies the code.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func verify(passCode: String?) async throws -> OktaAuthStatus {
        try await MainQueue.value { verify(passCode: passCode, onStatusChange: $0, onError: $1) }
    }
}
