package import AuthFoundation
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

    /// A description of the error in English. For an error of the server, it is the server's text. Show ``errorDescription`` to the user.
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

    /// The same as ``errorDescription``.
    public var localizedDescription: String { userText.description.text }

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }
}

extension OktaError: ClientError {
    package var userText: ErrorText {
        switch self {
        case .errorBuildingURLRequest, .invalidParameters: .appSetup
        case .connectionError(let error): Self.connectionText(of: error)
        case .emptyServerResponse, .invalidResponse: .unexpectedAnswer
        case .responseSerializationError: .foreignAnswer
        case .serverRespondedWithError(let refusal):
            ErrorText(apiCode: refusal.errorCode, causes: refusal.causes, status: refusal.statusCode)
        case .unexpectedResponse, .internalError: .somethingWrong
        case .wrongStatus: .stepNotPossible
        case .alreadyInProgress: ErrorText("This is already in progress.", de: "Dieser Vorgang läuft bereits.")
        case .unknownStatus:
            ErrorText(
                "This app does not support the next step of the sign-in.",
                de: "Diese App unterstützt den nächsten Schritt der Anmeldung nicht.", next: .updateApp)
        }
    }

    /// Returns the text of a connection error. If an app's own transport throws an error without a text, the service was not reached.
    private static func connectionText(of error: any Error) -> ErrorText {
        let text = ErrorText(of: error)
        return text == .somethingWrong ? .unreachable : text
    }
}

extension OktaError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The description, and for an error of the server its code, the HTTP status, and the IDs of the error and of the request. For
    /// developers.
    public var debugDescription: String {
        switch self {
        case .connectionError(let error): "The server can't be reached: \(technicalText(of: error))"
        case .responseSerializationError(let error, _): technicalText(description, [], causedBy: error)
        case .serverRespondedWithError(let refusal): refusal.explanation
        default: description
        }
    }
}
