public import Foundation

/// A token can't be stored, found or used.
public enum TokenError: Error, LocalizedError, Equatable, Sendable {
    /// The token does not know which client it belongs to.
    case contextMissing
    /// No token of that identifier is stored.
    case tokenNotFound(id: String)
    /// A token that is not stored can't be replaced.
    case cannotReplaceToken
    /// A token of that identifier is stored already.
    case duplicateTokenAdded
    /// The token belongs to a client with another configuration.
    case invalidConfiguration

    /// What happened, and what to do next.
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

/// A credential can't be used.
public enum CredentialError: Error, LocalizedError, Equatable, Sendable {
    /// The credential has been removed.
    case missingCoordinator
    /// The client's configuration is not the one that the token was issued for.
    case incorrectClientConfiguration
    /// Token and metadata are not about the same token.
    case metadataConsistency

    /// What happened, and what to do next.
    public var errorDescription: String? {
        switch self {
        case .missingCoordinator: "The credential has been removed. Use one that is stored."
        case .incorrectClientConfiguration:
            "The client's configuration is not the one that the token was issued for. Use a client with the same issuer and client id."
        case .metadataConsistency: "The metadata belongs to another token. Give it the token's identifier."
        }
    }
}
