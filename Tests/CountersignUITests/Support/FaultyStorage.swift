import AuthFoundation

/// A storage in memory whose operations can be made to fail, like a Keychain of a locked device or a full disk.
@CredentialActor
final class FaultyStorage: TokenStorage {
    /// The operations that fail.
    enum Operation { case reading, writing, removing }

    private let storage = MemoryTokenStorage()
    private var failures: [Operation: any Error] = [:]

    nonisolated init() {}

    /// Makes operations fail with an error; `nil` lets them succeed again.
    func fail(with error: (any Error)?, at operation: Operation) { failures[operation] = error }

    private func check(_ operation: Operation) throws {
        if let error = failures[operation] { throw error }
    }

    var delegate: (any TokenStorageDelegate)? {
        get { storage.delegate }
        set { storage.delegate = newValue }
    }

    var defaultTokenID: String? { storage.defaultTokenID }
    var allIDs: [String] { storage.allIDs }
    func setDefaultTokenID(_ id: String?) throws { try storage.setDefaultTokenID(id) }

    func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws {
        try check(.writing)
        try storage.add(token: token, metadata: metadata, security: security)
    }

    func setMetadata(_ metadata: Token.Metadata) throws { try storage.setMetadata(metadata) }
    func metadata(for id: String) throws -> Token.Metadata { try storage.metadata(for: id) }

    func replace(token id: String, with token: Token, security: [Credential.Security]?) throws {
        try check(.writing)
        try storage.replace(token: id, with: token, security: security)
    }

    func remove(id: String) throws {
        try check(.removing)
        try storage.remove(id: id)
    }

    func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        try check(.reading)
        return try storage.get(token: id, prompt: prompt, authenticationContext: authenticationContext)
    }
}
