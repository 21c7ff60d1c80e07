public import AuthFoundation
public import Foundation

/// A direct sign-in failed.
public enum DirectAuthenticationFlowError: Error, Sendable {
    /// The other device did not answer in time.
    case pollingTimeoutExceeded
    /// The server asks to show a code and gives none.
    case bindingCodeMissing
    /// Nothing that was asked for can be answered in this way.
    case invalidContinuationContext
    /// No sign-in is under way.
    case flowNotStarted
    /// Another call, or a reset, has superseded this one.
    case inconsistentContextState
    /// What was asked for needs values that are missing.
    case missingArguments(_ names: [String])
    /// The server was not reached, or its answer was not understood.
    case network(error: APIClientError)
    /// A step of OAuth 2.0 failed.
    case oauth2(error: OAuth2Error)
    /// The server refused.
    case server(error: OAuth2ServerError)
    /// Any other error.
    case other(error: any Error)

    /// Turns any error into one of these: those of the server and the network keep their meaning.
    ///
    /// - Parameter error: Any error.
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

extension DirectAuthenticationFlowError: LocalizedError {
    /// What happened, and what to do next.
    public var errorDescription: String? {
        switch self {
        case .pollingTimeoutExceeded: "The sign-in was not approved in time. Start again."
        case .bindingCodeMissing: "The server asks to show a code and gives none."
        case .invalidContinuationContext: "The sign-in does not wait for this answer. Look at the status that the last step returned."
        case .flowNotStarted: "No sign-in is under way. Start one first."
        case .inconsistentContextState: "Another step of the sign-in has begun meanwhile, or it was reset."
        case .missingArguments(let names): "This step needs \(names.joined(separator: " or ")), which no earlier step has brought."
        case .network(let error): error.localizedDescription
        case .oauth2(let error): error.localizedDescription
        case .server(let error): error.localizedDescription
        case .other(is CancellationError): "The sign-in was cancelled."
        case .other(let error): error.localizedDescription
        }
    }
}

extension DirectAuthenticationFlowError: Equatable {
    /// Whether both are the same case with equal values; errors inside are equal if they are of the same type and value.
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
