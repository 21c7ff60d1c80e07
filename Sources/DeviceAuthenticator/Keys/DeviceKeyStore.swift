public import Foundation
internal import JOSE

/// Where an authenticator's private keys are made, used and deleted; they never leave it.
///
/// All keys are on P-256. A key is named by its tag, which is the `kid` of its public form. Members may be called from any thread; those
/// that are not `async` do short local work only.
public protocol DeviceKeyStore: Sendable {
    /// Whether private keys are held by hardware, as the public form tells the server (`okta:kpr`).
    var isHardwareBacked: Bool { get }

    /// Makes a key that is used without asking the person.
    ///
    /// - Parameter tag: The name of the new key.
    /// - Returns: The public part.
    /// - Throws: ``SecurityError/keyGenFailed(_:_:)``, ``StorageError``.
    func makeKey(tag: String) throws -> DevicePublicKey

    /// Makes a key that is used only after the person was verified.
    ///
    /// - Parameters:
    ///   - tag: The name of the new key.
    ///   - request: What to verify the person for.
    ///   - verifier: What verifies the person, where the store does not do it itself.
    /// - Returns: The public part.
    /// - Throws: The ``SecurityError`` cases of local authentication, ``SecurityError/keyGenFailed(_:_:)``, ``StorageError``.
    func makeGuardedKey(tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?) async throws -> DevicePublicKey

    /// The public part of a key; the person is not asked.
    ///
    /// - Parameter tag: The name of the key.
    /// - Returns: The public part; nil if there is no such key, or the system has invalidated it.
    /// - Throws: ``StorageError`` if it can't be told.
    func publicKey(tag: String) throws -> DevicePublicKey?

    /// Signs with a key that needs nobody.
    ///
    /// - Parameters:
    ///   - message: What to sign; the store hashes it with SHA-256.
    ///   - tag: The name of the key.
    /// - Returns: The signature, 64 bytes: r and s.
    /// - Throws: ``SecurityError/keyCorrupted(_:)`` with ``DeviceKeyError``; ``StorageError``.
    func sign(_ message: Data, tag: String) throws -> Data

    /// Signs with a guarded key, after the person was verified.
    ///
    /// - Parameters:
    ///   - tag: The name of the key.
    ///   - request: What to verify the person for.
    ///   - verifier: What verifies the person, where the store does not do it itself.
    ///   - message: Makes what to sign, which tells how the person was verified; the store hashes it with SHA-256.
    /// - Returns: What was signed, and the signature.
    /// - Throws: The ``SecurityError`` cases of local authentication; ``SecurityError/keyCorrupted(_:)`` with ``DeviceKeyError``.
    func sign(
        guardedTag tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?,
        message: @Sendable (UserVerification.Method) throws -> Data
    ) async throws -> (message: Data, signature: Data)

    /// Deletes a key for good. One that is not there is no error.
    ///
    /// - Parameter tag: The name of the key.
    /// - Throws: ``StorageError``.
    func deleteKey(tag: String) throws
}

/// The public part of a device's key: a point on P-256.
public struct DevicePublicKey: Sendable, Equatable, Codable {
    /// The point's first coordinate, 32 bytes.
    public let x: Data
    /// The point's second coordinate, 32 bytes.
    public let y: Data

    /// Takes a point.
    ///
    /// - Parameters:
    ///   - x: 32 bytes.
    ///   - y: 32 bytes.
    public init(x: Data, y: Data) {
        self.x = x
        self.y = y
    }

    /// Takes x and y one after the other.
    init(rawRepresentation: Data) {
        self.init(x: Data(rawRepresentation.prefix(32)), y: Data(rawRepresentation.dropFirst(32)))
    }

    /// The form of the device-authenticator reference 3.2.
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

/// Why a private key can't be used.
public enum DeviceKeyError: Error, Sendable, Equatable, LocalizedError {
    /// There is no key of that tag.
    case missing(tag: String)
    /// What is stored under the tag is no key, or was invalidated.
    case damaged(tag: String)

    /// What happened and what to do next.
    public var errorDescription: String? {
        switch self {
        case .missing(let tag): "The private key \(tag) is gone from this device. Enroll again."
        case .damaged(let tag): "The private key \(tag) is damaged. Enroll again."
        }
    }
}
