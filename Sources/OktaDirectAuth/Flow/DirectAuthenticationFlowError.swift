public import AuthFoundation
public import Foundation

/// An error of a direct sign-in.
public enum DirectAuthenticationFlowError: Error, Sendable {
    /// The user did not approve on the other device in time.
    case pollingTimeoutExceeded
    /// The server requires a binding code but did not send one.
    case bindingCodeMissing
    /// The sign-in does not wait for this kind of answer.
    case invalidContinuationContext
    /// There is no current sign-in.
    case flowNotStarted
    /// Another call or a reset superseded this call.
    case inconsistentContextState
    /// Values that the step needs are missing.
    case missingArguments(_ names: [String])
    /// The server was unreachable, or its response was invalid.
    case network(error: APIClientError)
    /// Another OAuth 2.0 error.
    case oauth2(error: OAuth2Error)
    /// The server returned an error.
    case server(error: OAuth2ServerError)
    /// Any other error.
    case other(error: any Error)

    /// Creates the matching case for any error. Errors of the server and of the network become ``server(error:)`` and ``network(error:)``.
    public init(_ error: any Error) {
        switch error {
        case let error as DirectAuthenticationFlowError: self = error
        case let error as OAuth2ServerError: self = .server(error: error)
        case let error as APIClientError: self = error.serverError.map { .server(error: $0) } ?? .network(error: error)
        case OAuth2Error.server(let error): self = .server(error: error)
        case OAuth2Error.network(let error): self = .network(error: error)
        case let error as OAuth2Error: self = .oauth2(error: error)
        default: self = .other(error: error)
        }
    }
}

extension DirectAuthenticationFlowError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch self {
        case .pollingTimeoutExceeded: .notApprovedInTime
        case .bindingCodeMissing: .unexpectedAnswer
        case .invalidContinuationContext: .stepNotPossible
        case .flowNotStarted: .notStarted
        case .inconsistentContextState:
            ErrorText(
                "The sign-in was restarted or cancelled in the meantime.",
                de: "Die Anmeldung wurde inzwischen neu gestartet oder abgebrochen.", next: .startAgain)
        case .missingArguments: .incomplete
        case .network(let error): error.userText
        case .oauth2(let error): error.userText
        case .server(let error): error.userText
        case .other(is CancellationError): ErrorText("The sign-in was cancelled.", de: "Die Anmeldung wurde abgebrochen.")
        case .other(let error): ErrorText(of: error)
        }
    }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
        switch self {
        case .pollingTimeoutExceeded: "The user did not approve the sign-in before it expired. Start again."
        case .bindingCodeMissing: "The server asks to show a code and gives none."
        case .invalidContinuationContext: "The sign-in does not wait for this answer. Look at the status that the last step returned."
        case .flowNotStarted: "No sign-in is under way. Start one first."
        case .inconsistentContextState: "Another step of the sign-in has begun meanwhile, or it was reset."
        case .missingArguments(let names): "This step needs \(names.joined(separator: " or ")), which no earlier step has brought."
        case .network(let error): error.debugDescription
        case .oauth2(let error): error.debugDescription
        case .server(let error): error.debugDescription
        case .other(let error): technicalText(of: error)
        }
    }
}

extension DirectAuthenticationFlowError: Equatable {
    /// Whether the two errors are the same case with equal values. Wrapped errors are equal if they have the same type and value.
    public static func == (lhs: DirectAuthenticationFlowError, rhs: DirectAuthenticationFlowError) -> Bool {
        switch (lhs, rhs) {
        case (.pollingTimeoutExceeded, .pollingTimeoutExceeded), (.bindingCodeMissing, .bindingCodeMissing),
            (.invalidContinuationContext, .invalidContinuationContext), (.flowNotStarted, .flowNotStarted),
            (.inconsistentContextState, .inconsistentContextState):
            true
        case (.missingArguments(let left), .missingArguments(let right)): left == right
        case (.network(let left), .network(let right)): left == right
        case (.oauth2(let left), .oauth2(let right)): left == right
        case (.server(let left), .server(let right)): left == right
        case (.other(let left), .other(let right)): isSame(left, right)
        default: false
        }
    }
}
