package import AuthFoundation
internal import Foundation

/// An in-memory storage whose deletions can be made to fail, as in a storage that is full or has lost its key.
@CredentialActor
package final class StubbornStorage: TokenStorage {
    /// The error of a failed deletion.
    package struct Refusal: LocalizedError {
        /// The text for the user.
        package var errorDescription: String? { "The storage deletes nothing." }
    }

    private let storage = MemoryTokenStorage()
    private var refuses = false

    /// Creates an empty storage whose deletions succeed.
    package nonisolated init() {}

    /// Makes deletions fail or succeed.
    ///
    /// - Parameter refuses: Whether deletions fail.
    package func refuse(_ refuses: Bool = true) { self.refuses = refuses }

    package var delegate: (any TokenStorageDelegate)? {
        get { storage.delegate }
        set { storage.delegate = newValue }
    }

    package var defaultTokenID: String? { storage.defaultTokenID }
    package var allIDs: [String] { storage.allIDs }
    package func setDefaultTokenID(_ id: String?) throws { try storage.setDefaultTokenID(id) }

    package func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws {
        try storage.add(token: token, metadata: metadata, security: security)
    }

    package func setMetadata(_ metadata: Token.Metadata) throws { try storage.setMetadata(metadata) }
    package func metadata(for id: String) throws -> Token.Metadata { try storage.metadata(for: id) }

    package func replace(token id: String, with token: Token, security: [Credential.Security]?) throws {
        try storage.replace(token: id, with: token, security: security)
    }

    package func remove(id: String) throws {
        if refuses { throw Refusal() }
        try storage.remove(id: id)
    }

    package func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        try storage.get(token: id, prompt: prompt, authenticationContext: authenticationContext)
    }
}
