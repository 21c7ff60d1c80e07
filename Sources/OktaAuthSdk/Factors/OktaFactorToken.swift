/// A factor that is verified with a code from a hardware or software token, such as RSA SecurID. The token's vendor verifies the code.
open class OktaFactorToken: OktaFactor {
    /// The account or serial number of the token.
    public var credentialId: String? { factor.profile?.credentialId }

    /// The provider of the token.
    public var factorProvider: FactorProvider? { factor.provider }

    /// Enrolls the token with its current code. The factor is active at once.
    /// - Parameter credentialId: The account or serial number of the token.
    public func enroll(
        credentialId: String, passCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        enroll(
            questionId: nil, answer: nil, credentialId: credentialId, passCode: passCode, phoneNumber: nil,
            onStatusChange: onStatusChange, onError: onError)
    }

    /// Enrolls a token that requires two consecutive codes.
    /// - Parameters:
    ///   - credentialId: The account or serial number of the token.
    ///   - nextPassCode: The code that the token shows after `passCode`.
    public func enroll(
        credentialId: String, passCode: String, nextPassCode: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        var body = enrollment(profile: ["credentialId": credentialId])
        (body["passCode"], body["nextPassCode"]) = (passCode, nextPassCode)
        send(to: factor.links?.enroll, "enroll", onStatusChange, onError) { [body] api, link, completion in
            api.sendApiRequest(with: link, bodyParams: body, method: .post, completion: completion)
        }
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

extension OktaFactorToken {
    /// Enrolls the token with its current code. The factor is active at once.
    /// - Parameter credentialId: The account or serial number of the token.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func enroll(credentialId: String, passCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { enroll(credentialId: credentialId, passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Enrolls a token that requires two consecutive codes.
    /// - Parameters:
    ///   - credentialId: The account or serial number of the token.
    ///   - nextPassCode: The code that the token shows after `passCode`.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func enroll(credentialId: String, passCode: String, nextPassCode: String) async throws -> OktaAuthStatus {
        try await MainQueue.value {
            enroll(credentialId: credentialId, passCode: passCode, nextPassCode: nextPassCode, onStatusChange: $0, onError: $1)
        }
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
