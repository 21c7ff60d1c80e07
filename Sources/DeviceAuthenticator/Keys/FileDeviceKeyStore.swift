internal import AuthFoundation
internal import Crypto
internal import CryptoExtras
internal import Dispatch
public import Foundation

/// A store of private keys in encrypted files; the default on platforms other than Apple's. Safe from any thread, and across processes.
/// Each key is a file of mode 0600 in a folder of mode 0700, sealed with AES-GCM under the folder's key file. A guarded key is also sealed
/// with the ``UserVerifier``'s secret, stretched with scrypt (RFC 7914); see ``UserVerifier`` for the resulting protection. The server is
/// told that software holds these keys.
public struct FileDeviceKeyStore: DeviceKeyStore {
    /// The default binary logarithm of the scrypt cost: 32 MiB and some tenths of a second.
    public static let defaultSecretCost = 15

    private static let stretching = DispatchQueue(label: "countersign.device-authenticator.secrets")
    /// The queue for the file work of asynchronous calls. The work may wait for the folder's lock and must not block a cooperative thread.
    private static let filing = DispatchQueue(label: "countersign.device-authenticator.keys", attributes: .concurrent)

    private let folder: EntryFolder
    private let secretCost: Int
    private let randomness: Randomness

    /// Creates a store. The initializer does not access files.
    /// - Parameters:
    ///   - directory: The folder, created with the first key. It may also be the authenticator's storage folder.
    ///   - secretCost: The binary logarithm of the scrypt cost for secrets, 10 to 20. It is stored with each key, so changing it does not
    ///     affect existing keys.
    public init(directory: URL, secretCost: Int = FileDeviceKeyStore.defaultSecretCost) {
        self.init(
            folder: EntryFolder(path: directory.standardizedFileURL.path, keySource: StoreKeyFile()), secretCost: secretCost,
            randomness: .system)
    }

    init(folder: EntryFolder, secretCost: Int = FileDeviceKeyStore.defaultSecretCost, randomness: Randomness = .system) {
        self.folder = folder
        self.secretCost = min(max(secretCost, 10), 20)
        self.randomness = randomness
    }

    /// Always `false`.
    public var isHardwareBacked: Bool { false }

    private struct StoredKey: Codable, Sendable {
        let publicKey: DevicePublicKey
        /// The private key; `nil` if a secret seals it.
        var privateKey: Data?
        var isGuarded = false
        var lock: SecretLock?
    }

    /// A private key sealed with the user's secret.
    private struct SecretLock: Codable, Sendable {
        let salt: Data
        let logCost: Int
        let sealed: Data
    }

    /// Creates a key that signs without user verification.
    public func makeKey(tag: String) throws -> DevicePublicKey {
        let key = P256.Signing.PrivateKey()
        let publicKey = DevicePublicKey(rawRepresentation: key.publicKey.rawRepresentation)
        try store(StoredKey(publicKey: publicKey, privateKey: key.rawRepresentation), tag: tag)
        return publicKey
    }

    /// Creates a key that signs only after the verifier has verified the user.
    public func makeGuardedKey(tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?) async throws -> DevicePublicKey
    {
        let verification = try await verify(request, with: verifier)
        let key = P256.Signing.PrivateKey()
        let publicKey = DevicePublicKey(rawRepresentation: key.publicKey.rawRepresentation)
        var stored = StoredKey(publicKey: publicKey, isGuarded: true)
        if let secret = verification.secret {
            let salt = Data(randomness.bytes(16))
            let wrapping = try await stretch(secret, salt: salt, logCost: secretCost)
            let box = try AES.GCM.seal(key.rawRepresentation, using: wrapping, authenticating: Data(tag.utf8))
            guard let sealed = box.combined else { throw SecurityError.dataEncryptionDecryptionError(nil) }
            stored.lock = SecretLock(salt: salt, logCost: secretCost, sealed: sealed)
        } else {
            stored.privateKey = key.rawRepresentation
        }
        try await Self.filed { [stored] in try store(stored, tag: tag) }
        return publicKey
    }

    private func store(_ key: StoredKey, tag: String) throws {
        do {
            try folder.change { try $0.write(key, .key, tag) }
        } catch { throw StorageError(error) }
    }

    /// Returns the public key; `nil` if the key does not exist.
    public func publicKey(tag: String) throws -> DevicePublicKey? {
        do { return try stored(tag)?.publicKey } catch { throw StorageError(error) }
    }

    /// Signs with a key that needs no user verification.
    public func sign(_ message: Data, tag: String) throws -> Data {
        let key = try usable(tag)
        // A guarded key must never sign without user verification, even if its private key is stored without a lock.
        guard !key.isGuarded, let privateKey = key.privateKey else { throw SecurityError.keyCorrupted(DeviceKeyError.damaged(tag: tag)) }
        return try signature(of: message, with: privateKey, tag: tag)
    }

    /// Signs with a guarded key after the verifier has verified the user.
    public func sign(
        guardedTag tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?,
        message: @Sendable (UserVerification.Method) throws -> Data
    ) async throws -> (message: Data, signature: Data) {
        let key = try await Self.filed { try usable(tag) }
        guard key.isGuarded else { throw SecurityError.keyCorrupted(DeviceKeyError.damaged(tag: tag)) }
        let verification = try await verify(request, with: verifier)
        let privateKey = try await unlock(key, tag: tag, with: verification)
        let message = try message(verification.method)
        return (message, try signature(of: message, with: privateKey, tag: tag))
    }

    private func unlock(_ key: StoredKey, tag: String, with verification: UserVerification) async throws -> Data {
        guard let lock = key.lock else {
            guard let privateKey = key.privateKey else { throw SecurityError.keyCorrupted(DeviceKeyError.damaged(tag: tag)) }
            return privateKey
        }
        // A key that was sealed with a secret cannot be opened without it.
        guard let secret = verification.secret else { throw UserVerificationFailure.failed.securityError }
        let wrapping = try await stretch(secret, salt: lock.salt, logCost: lock.logCost)
        guard let box = try? AES.GCM.SealedBox(combined: lock.sealed),
            let privateKey = try? AES.GCM.open(box, using: wrapping, authenticating: Data(tag.utf8))
        else { throw UserVerificationFailure.failed.securityError }
        return privateKey
    }

    /// Deletes a key permanently.
    public func deleteKey(tag: String) throws {
        do { try folder.change { try $0.remove(.key, tag) } } catch { throw StorageError(error) }
    }

    private static func filed<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            filing.async { continuation.resume(with: Swift.Result { try work() }) }
        }
    }

    private func stored(_ tag: String) throws -> StoredKey? { try folder.read(StoredKey.self, .key, tag) }

    private func usable(_ tag: String) throws -> StoredKey {
        do {
            guard let key = try stored(tag) else { throw SecurityError.keyCorrupted(DeviceKeyError.missing(tag: tag)) }
            return key
        } catch let error as SecurityError {
            throw error
        } catch {
            throw StorageError(error)
        }
    }

    private func signature(of message: Data, with privateKey: Data, tag: String) throws -> Data {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: privateKey) else {
            throw SecurityError.keyCorrupted(DeviceKeyError.damaged(tag: tag))
        }
        return try key.signature(for: message).rawRepresentation
    }

    private func verify(_ request: UserVerificationRequest, with verifier: (any UserVerifier)?) async throws -> UserVerification {
        guard let verifier else { throw UserVerificationFailure.unavailable.securityError }
        do throws(UserVerificationFailure) {
            return try await verifier.verify(request)
        } catch {
            throw error.securityError
        }
    }

    /// Derives a key. One derivation runs at a time, on a queue of its own, because each derivation takes tenths of a second and tens of
    /// MiB.
    private func stretch(_ secret: Data, salt: Data, logCost: Int) async throws -> SymmetricKey {
        guard (10...20).contains(logCost) else { throw SecurityError.dataEncryptionDecryptionError(nil) }
        return try await withCheckedThrowingContinuation { continuation in
            Self.stretching.async {
                continuation.resume(
                    with: Result {
                        try KDF.Scrypt.deriveKey(
                            from: secret, salt: salt, outputByteCount: 32, rounds: 1 << logCost, blockSize: 8, parallelism: 1,
                            maxMemory: 2 << (logCost + 10))
                    })
            }
        }
    }
}
