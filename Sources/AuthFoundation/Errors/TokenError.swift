public import Foundation

/// Reports that a token cannot be stored, found or used.
public enum TokenError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// The token does not identify its client.
    case contextMissing
    /// No token with this identifier is stored.
    case tokenNotFound(id: String)
    /// A token that is not stored cannot be replaced.
    case cannotReplaceToken
    /// A token with this identifier is already stored.
    case duplicateTokenAdded
    /// The token belongs to a client with another configuration.
    case invalidConfiguration

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch self {
        case .contextMissing: .storedUnreadable
        case .tokenNotFound: .notSignedIn
        case .cannotReplaceToken: .notSaved
        case .duplicateTokenAdded: ErrorText("You are already signed in.", de: "Sie sind bereits angemeldet.")
        case .invalidConfiguration: .ofOtherClient
        }
    }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
        switch self {
        case .contextMissing: "The token does not tell which client it belongs to. Sign in again."
        case .tokenNotFound(let id): "No token with the identifier \(id) is stored. Sign in again."
        case .cannotReplaceToken: "The token can't be replaced, because it is not stored. Store it first."
        case .duplicateTokenAdded: "The token is stored already."
        case .invalidConfiguration: "The token belongs to a client with another configuration."
        }
    }
}

/// Reports that a credential cannot be used.
public enum CredentialError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// The credential has been removed.
    case missingCoordinator
    /// The token was issued for another client configuration.
    case incorrectClientConfiguration
    /// Token and metadata belong to different tokens.
    case metadataConsistency

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch self {
        case .missingCoordinator: .signedOut
        case .incorrectClientConfiguration: .ofOtherClient
        case .metadataConsistency: .notSaved
        }
    }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
        switch self {
        case .missingCoordinator: "The credential has been removed. Use one that is stored."
        case .incorrectClientConfiguration:
            "The client's configuration is not the one that the token was issued for. Use a client with the same issuer and client id."
        case .metadataConsistency: "The metadata belongs to another token. Give it the token's identifier."
        }
    }
}

extension ErrorText {
    fileprivate static let ofOtherClient = ErrorText(
        "Your saved sign-in does not match this app.", de: "Ihre gespeicherte Anmeldung passt nicht zu dieser App.", next: .signInAgain)
}

/// An error response in the format of the server's own API.
public struct OktaAPIError: Error, Decodable, Sendable {
    /// The error code, such as `E0000047`.
    public let code: String

    /// A human-readable description.
    public let summary: String

    /// The name or the URL of the error's documentation; empty if the server sent none.
    public let link: String

    /// The server's identifier of this error occurrence; empty if the server sent none.
    public let id: String

    /// Human-readable descriptions of the causes.
    public let causes: [String]

    /// The HTTP status of the response, if known.
    public internal(set) var statusCode: Int?

    /// The server's identifier of the request, if known.
    public internal(set) var requestId: String?

    private enum CodingKeys: String, CodingKey {
        case errorCode, errorSummary, errorLink, errorId, errorCauses
    }

    /// Decodes the body of a response. Causes can be strings or objects.
    /// - Throws: `DecodingError` if code or summary is missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        code = try container.decode(String.self, forKey: .errorCode)
        summary = try container.decode(String.self, forKey: .errorSummary)
        link = try container.decodeIfPresent(String.self, forKey: .errorLink) ?? ""
        id = try container.decodeIfPresent(String.self, forKey: .errorId) ?? ""
        let causes = try container.decodeIfPresent([JSON].self, forKey: .errorCauses) ?? []
        self.causes = causes.compactMap { $0.string ?? $0["errorSummary"]?.string }
    }
}

extension OktaAPIError: Equatable {
    /// Whether both errors have the same members. The HTTP status and the identifier of the request are ignored.
    public static func == (lhs: OktaAPIError, rhs: OktaAPIError) -> Bool {
        lhs.code == rhs.code && lhs.summary == rhs.summary && lhs.link == rhs.link && lhs.id == rhs.id && lhs.causes == rhs.causes
    }
}

extension OktaAPIError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { ErrorText(apiCode: code, causes: causes, status: statusCode) }

    /// The summary, the causes, the code, the HTTP status, and the identifiers of the error and of the request, for developers.
    public var debugDescription: String {
        technicalText(
            ([summary] + causes).filter { !$0.isEmpty }.joined(separator: " "),
            [code, statusCode.map { "status \($0)" }, id.isEmpty ? nil : "error \(id)", requestId.map { "request \($0)" }])
    }
}
