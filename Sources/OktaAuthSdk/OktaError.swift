public import Foundation

/// What can go wrong. None of the texts holds a token, a password or the body of an answer.
public enum OktaError: LocalizedError {
    /// The request could not be made: its URL or its body is not fit.
    case errorBuildingURLRequest(String)
    /// No answer came.
    case connectionError(any Error)
    /// The answer was empty, or none of HTTP.
    case emptyServerResponse
    /// The answer lacks something that its status needs.
    case invalidResponse(String)
    /// The answer is not what the protocol says. The body comes along, and no text shows it.
    case responseSerializationError(any Error, Data)
    /// The server refused.
    case serverRespondedWithError(OktaAPIErrorResponse)
    /// An app's own handler threw something else than `OktaError`.
    case unexpectedResponse
    /// The status does not allow it: the answer has no link for it.
    case wrongStatus(String)
    /// The same is under way. This version never raises it.
    case alreadyInProgress
    /// The server is in a state that this version does not know.
    case unknownStatus(OktaAPISuccessResponse)
    /// A callback came that nobody waits for.
    case internalError(String)
    /// A parameter is not fit.
    case invalidParameters(String)

    /// What happened, for people.
    public var description: String {
        switch self {
        case .errorBuildingURLRequest(let reason): "The request could not be made: \(reason)"
        case .connectionError(let error): "The server can't be reached: \(error.localizedDescription)"
        case .emptyServerResponse: "The server's answer is empty."
        case .invalidResponse(let reason): "The server's answer is not complete: \(reason)"
        case .responseSerializationError: "The server's answer can't be read. Check that the URL leads to the organization itself."
        case .serverRespondedWithError(let refusal): refusal.text ?? "The server refused, and gave no reason."
        case .unexpectedResponse: "The app's handler failed with the server's answer."
        case .wrongStatus(let reason): "This is not possible now: \(reason)"
        case .alreadyInProgress: "The same is under way."
        case .unknownStatus(let response): "The server is in a state that this app does not know: \(response.status?.rawValue ?? "none")"
        case .internalError(let reason): "Something inside failed: \(reason)"
        case .invalidParameters(let reason): "A parameter is not fit: \(reason)"
        }
    }

    /// The same.
    public var localizedDescription: String { description }

    /// The same.
    public var errorDescription: String? { description }
}

extension OktaError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The same.
    public var debugDescription: String { description }
}
