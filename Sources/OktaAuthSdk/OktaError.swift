public import Foundation

/// An error of the SDK. Descriptions never contain a token, a password or a response body.
public enum OktaError: LocalizedError {
    /// The URL, a header or the body of the request is invalid.
    case errorBuildingURLRequest(String)
    /// The server did not respond.
    case connectionError(any Error)
    /// The response is empty or is not an HTTP response.
    case emptyServerResponse
    /// The response lacks a value that its status needs.
    case invalidResponse(String)
    /// The response cannot be decoded. The associated data is its body, which descriptions do not show.
    case responseSerializationError(any Error, Data)
    /// The server returned an error.
    case serverRespondedWithError(OktaAPIErrorResponse)
    /// The app's response handler threw an error other than `OktaError`.
    case unexpectedResponse
    /// The status does not allow the operation. For example, the response has no link for it.
    case wrongStatus(String)
    /// The same operation is already in progress. This version never throws this error.
    case alreadyInProgress
    /// This version does not know the status in the response.
    case unknownStatus(OktaAPISuccessResponse)
    /// An internal error, such as a factor without a status.
    case internalError(String)
    /// A parameter is invalid.
    case invalidParameters(String)

    /// A description of the error for the user.
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
        case .alreadyInProgress: "The same request is already in progress."
        case .unknownStatus(let response): "The server is in a state that this app does not know: \(response.status?.rawValue ?? "none")"
        case .internalError(let reason): "An internal error occurred: \(reason)"
        case .invalidParameters(let reason): "A parameter is invalid: \(reason)"
        }
    }

    /// The same as `description`.
    public var localizedDescription: String { description }

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension OktaError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The same as `description`.
    public var debugDescription: String { description }
}
