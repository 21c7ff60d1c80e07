/// A handler that creates the status of each response.
/// Subclass it for custom statuses, for unknown states or for custom polling, and pass it to
/// ``OktaAuthStatusUnauthenticated/init(oktaDomain:responseHandler:)``. Later statuses inherit it. The class is not `Sendable`; the SDK
/// calls it on the main queue.
open class OktaAuthStatusResponseHandler {
    /// Creates a handler.
    public init() {}

    /// Handles a response: creates its status or reports the error.
    /// - Parameters:
    ///   - currentStatus: The status that sent the request.
    ///   - onStatusChanged: Call it with the new status, from any thread.
    ///   - onError: Call it with the error, from any thread.
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

    /// Creates the status of a response, as an instance of the subclass for its state.
    /// - Parameter currentStatus: The status that sent the request.
    /// - Throws: `OktaError.invalidResponse` if the response lacks a value; `.unknownStatus` for an unknown state; `.wrongStatus` if the
    ///   server reports that there is no transaction.
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
        case .unauthenticated: throw OktaError.wrongStatus("the server reports that no sign-in has started")
        case .unknown: throw OktaError.unknownStatus(response)
        }
    }
}

@available(*, unavailable)
extension OktaAuthStatusResponseHandler: Sendable {}
