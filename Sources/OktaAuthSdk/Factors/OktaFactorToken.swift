/// A code of a token that its maker verifies, such as RSA SecurID.
open class OktaFactorToken: OktaFactor {
    /// The account or the serial number.
    public var credentialId: String? { factor.profile?.credentialId }

    /// The maker.
    public var factorProvider: FactorProvider? { factor.provider }

    /// Enrols the token with its current code; it is active at once.
    ///
    /// - Parameters:
    ///   - credentialId: The account or the serial number.
    ///   - passCode: The code.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func enroll(
        credentialId: String, passCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        enroll(
            questionId: nil, answer: nil, credentialId: credentialId, passCode: passCode, phoneNumber: nil,
            onStatusChange: onStatusChange, onError: onError)
    }

    /// Enrols a token that proves itself with two codes, one after the other.
    ///
    /// - Parameters:
    ///   - credentialId: The account or the serial number.
    ///   - passCode: The code.
    ///   - nextPassCode: The code after it.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func enroll(
        credentialId: String, passCode: String, nextPassCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        var body = enrolment(profile: ["credentialId": credentialId])
        (body["passCode"], body["nextPassCode"]) = (passCode, nextPassCode)
        send(to: factor.links?.enroll, "enroll", onStatusChange, onError) { [body] api, link, completion in
            api.sendApiRequest(with: link, bodyParams: body, method: .post, completion: completion)
        }
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

extension OktaFactorToken {
    /// Enrols the token with its current code; it is active at once.
    ///
    /// - Parameters:
    ///   - credentialId: The account or the serial number.
    ///   - passCode: The code.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func enroll(credentialId: String, passCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { enroll(credentialId: credentialId, passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Enrols a token that proves itself with two codes, one after the other.
    ///
    /// - Parameters:
    ///   - credentialId: The account or the serial number.
    ///   - passCode: The code.
    ///   - nextPassCode: The code after it.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func enroll(credentialId: String, passCode: String, nextPassCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value {
            enroll(credentialId: credentialId, passCode: passCode, nextPassCode: nextPassCode, onStatusChange: $0, onError: $1)
        }
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
