public import Foundation

/// A token cannot be stored, found or used.
public enum TokenError: Error, LocalizedError, Equatable, Sendable {
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

    /// A description of the error and a remedy.
    public var errorDescription: String? {
        switch self {
        case .contextMissing: "The token does not tell which client it belongs to. Sign in again."
        case .tokenNotFound(let id): "No token with the identifier \(id) is stored. Sign in again."
        case .cannotReplaceToken: "The token can't be replaced, because it is not stored. Store it first."
        case .duplicateTokenAdded: "The token is stored already."
        case .invalidConfiguration: "The token belongs to a client with another configuration."
        }
    }
}

/// A credential cannot be used.
public enum CredentialError: Error, LocalizedError, Equatable, Sendable {
    /// The credential has been removed.
    case missingCoordinator
    /// The token was issued for another client configuration.
    case incorrectClientConfiguration
    /// Token and metadata belong to different tokens.
    case metadataConsistency

    /// A description of the error and a remedy.
    public var errorDescription: String? {
        switch self {
        case .missingCoordinator: "The credential has been removed. Use one that is stored."
        case .incorrectClientConfiguration:
            "The client's configuration is not the one that the token was issued for. Use a client with the same issuer and client id."
        case .metadataConsistency: "The metadata belongs to another token. Give it the token's identifier."
        }
    }
}
