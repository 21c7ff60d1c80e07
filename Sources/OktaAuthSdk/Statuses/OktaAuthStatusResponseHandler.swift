/// Makes the next status of each answer.
///
/// Subclass it for statuses of your own, for states that this version does not know, or to poll in another way, and give it to
/// ``OktaAuthStatusUnauthenticated/init(oktaDomain:responseHandler:)``: each later status inherits it. Not `Sendable`: it is called on the
/// main queue.
open class OktaAuthStatusResponseHandler {
    /// Makes a handler.
    public init() {}

    /// Takes an answer: makes the status of it, or tells what went wrong.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - currentStatus: The status that asked.
    ///   - onStatusChanged: To be called with the new status, from anywhere.
    ///   - onError: To be called with what went wrong, from anywhere.
    open func handleServerResponse(
        _ response: OktaAPIRequest.Result, currentStatus: OktaAuthStatus, onStatusChanged: @escaping (_ newState: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        switch response {
        case .error(let error): onError(error)
        case .success(let answer):
            do {
                onStatusChanged(try createAuthStatus(basedOn: answer, and: currentStatus))
            } catch {
                onError(error as? OktaError ?? .unexpectedResponse)
            }
        }
    }

    /// Makes the status of an answer.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - currentStatus: The status that asked.
    /// - Returns: The status, of the class for its state.
    /// - Throws: `OktaError.invalidResponse` if the answer lacks something, `.unknownStatus` for a state without a class, `.wrongStatus` if
    ///   the server says that there is no transaction.
    open func createAuthStatus(basedOn response: OktaAPISuccessResponse, and currentStatus: OktaAuthStatus) throws -> OktaAuthStatus {
        guard let status = response.status else { throw OktaError.invalidResponse("it has no status") }
        return switch status {
        case .success: try OktaAuthStatusSuccess(currentState: currentStatus, model: response)
        case .passwordWarning: try OktaAuthStatusPasswordWarning(currentState: currentStatus, model: response)
        case .passwordExpired: try OktaAuthStatusPasswordExpired(currentState: currentStatus, model: response)
        case .passwordReset: try OktaAuthStatusPasswordReset(currentState: currentStatus, model: response)
        case .recovery: try OktaAuthStatusRecovery(currentState: currentStatus, model: response)
        case .recoveryChallenge: try OktaAuthStatusRecoveryChallenge(currentState: currentStatus, model: response)
        case .lockedOut: try OktaAuthStatusLockedOut(currentState: currentStatus, model: response)
        case .MFAEnroll: try OktaAuthStatusFactorEnroll(currentState: currentStatus, model: response)
        case .MFAEnrollActivate: try OktaAuthStatusFactorEnrollActivate(currentState: currentStatus, model: response)
        case .MFARequired: try OktaAuthStatusFactorRequired(currentState: currentStatus, model: response)
        case .MFAChallenge: try OktaAuthStatusFactorChallenge(currentState: currentStatus, model: response)
        case .unauthenticated: throw OktaError.wrongStatus("the server says that nobody has begun to sign in")
        case .unknown: throw OktaError.unknownStatus(response)
        }
    }
}

@available(*, unavailable)
extension OktaAuthStatusResponseHandler: Sendable {}
