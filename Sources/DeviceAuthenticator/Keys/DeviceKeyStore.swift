package import AuthFoundation
public import Foundation
internal import JOSE

/// A store that creates, uses and deletes an authenticator's private keys. The keys never leave the store. All keys are on P-256. A key's
/// tag is the `kid` of its public JWK. Safe from any thread; functions that are not `async` do only short local work.
public protocol DeviceKeyStore: Sendable {
    /// Whether hardware holds the private keys; sent to the server as `okta:kpr`.
    var isHardwareBacked: Bool { get }

    /// Creates a key that signs without user verification.
    /// - Throws: ``SecurityError/keyGenFailed(_:_:)``, ``StorageError`` if the store cannot be changed.
    func makeKey(tag: String) throws -> DevicePublicKey

    /// Creates a key that signs only after user verification.
    /// - Parameters:
    ///   - tag: The name of the new key.
    ///   - request: The purpose of the verification, and the text for the user.
    ///   - verifier: The verifier of the user; used only if the store itself cannot verify the user.
    /// - Throws: The ``SecurityError`` cases of local authentication, ``SecurityError/keyGenFailed(_:_:)``, ``StorageError`` if the store
    ///   cannot be changed.
    func makeGuardedKey(tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?) async throws -> DevicePublicKey

    /// Returns the public key without user verification; `nil` if the key does not exist or the system has invalidated it.
    /// - Throws: ``StorageError`` if the store cannot be read.
    func publicKey(tag: String) throws -> DevicePublicKey?

    /// Signs with a key that needs no user verification.
    /// - Parameters:
    ///   - message: The message; the store hashes it with SHA-256.
    ///   - tag: The name of the key.
    /// - Returns: The signature, 64 bytes: r and s.
    /// - Throws: ``SecurityError/keyCorrupted(_:)`` with ``DeviceKeyError``; ``StorageError`` if the store cannot be read.
    func sign(_ message: Data, tag: String) throws -> Data

    /// Verifies the user and signs with a guarded key.
    /// - Parameters:
    ///   - tag: The name of the key.
    ///   - request: The purpose of the verification, and the text for the user.
    ///   - verifier: The verifier of the user; used only if the store itself cannot verify the user.
    ///   - message: Creates the message for the verification method; the store hashes the message with SHA-256.
    /// - Returns: The message and its signature.
    /// - Throws: The ``SecurityError`` cases of local authentication; ``SecurityError/keyCorrupted(_:)`` with ``DeviceKeyError``;
    ///   ``StorageError`` if the store cannot be read.
    func sign(
        guardedTag tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?,
        message: @Sendable (UserVerification.Method) throws -> Data
    ) async throws -> (message: Data, signature: Data)

    /// Deletes a key permanently; a no-op if the key does not exist.
    /// - Throws: ``StorageError`` if the store cannot be changed.
    func deleteKey(tag: String) throws
}

/// The public part of a device's key: a point on P-256.
public struct DevicePublicKey: Sendable, Equatable, Codable {
    /// The point's first coordinate, 32 bytes.
    public let x: Data
    /// The point's second coordinate, 32 bytes.
    public let y: Data

    /// Creates a key from coordinates of 32 bytes each.
    public init(x: Data, y: Data) {
        self.x = x
        self.y = y
    }

    /// Creates a key from the concatenation of x and y.
    init(rawRepresentation: Data) {
        self.init(x: Data(rawRepresentation.prefix(32)), y: Data(rawRepresentation.dropFirst(32)))
    }

    /// Returns the JWK (Documentation/Protocol/Devices.md §3.2).
    func jwk(tag: String, isHardwareBacked: Bool) -> JSONValue {
        var jwk: JSONValue = [
            "kty": "EC", "crv": "P-256", "kid": .string(tag), "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
            "okta:kpr": isHardwareBacked ? "HARDWARE" : "SOFTWARE",
        ]
        #if os(iOS)
        jwk["okta:isFipsCompliant"] = .bool(isHardwareBacked)
        #endif
        return jwk
    }
}

/// The reason why a private key cannot be used.
public enum DeviceKeyError: Error, Sendable, Equatable, LocalizedError, CustomDebugStringConvertible {
    /// There is no key with the tag.
    case missing(tag: String)
    /// The stored key is invalid or was invalidated.
    case damaged(tag: String)

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    /// The tag of the key and a remedy, for developers.
    public var debugDescription: String {
        switch self {
        case .missing(let tag): "The private key \(tag) is gone from this device. Enroll again."
        case .damaged(let tag): "The private key \(tag) is damaged. Enroll again."
        }
    }
}

extension DeviceKeyError: ClientError {
    package var userText: ErrorText { .accountDamaged }
}
