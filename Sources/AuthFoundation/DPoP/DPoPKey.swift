public import Foundation
public import JOSE

/// A P-256 private key that proves possession of tokens (RFC 9449). Descriptions contain no private part. Safe from any thread.
public struct DPoPKey: Sendable, Redacted {
    /// The RFC 7638 thumbprint: the SHA-256 hash of the public key in base64url. It is not secret.
    public let thumbprint: String

    /// The public key as the members of a JSON Web Key.
    let publicMembers: JSONValue

    let sign: @Sendable ([UInt8]) throws -> [UInt8]

    /// Creates a key from its public point and a signing function, so that the private part can stay in hardware.
    /// - Parameters:
    ///   - x: The x coordinate of the public point, 32 bytes.
    ///   - y: The y coordinate of the public point, 32 bytes.
    ///   - sign: Signs a message with ECDSA on P-256 and SHA-256. Returns the signature as r and s, 64 bytes.
    /// - Throws: ``DPoPError`` with ``DPoPError/Code/keyUnusable`` if the point is not on P-256.
    public init(x: [UInt8], y: [UInt8], sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) throws {
        publicMembers = [
            "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
        ]
        do {
            let key = try JSONWebKey(parsing: publicMembers.serialized())
            // This checks that the point is on the curve.
            _ = try VerificationKey(key, algorithm: .es256)
            thumbprint = key.thumbprint
        } catch {
            throw DPoPError(.keyUnusable, "The stored DPoP key is not a P-256 key. Delete it and sign in again.", underlying: error)
        }
        self.sign = sign
    }

    init(_ key: SigningKey) throws {
        let members = key.privateJWK.json()
        guard let x = members["x"]?.stringValue, let y = members["y"]?.stringValue else {
            throw DPoPError(.keyUnusable, "The stored DPoP key is not a P-256 key. Delete it and sign in again.")
        }
        try self.init(x: Base64URL.decode(x), y: Base64URL.decode(y)) { try key.signature(for: $0) }
    }

    /// The thumbprint only.
    public var description: String { "DPoPKey(\(thumbprint))" }
}

/// A storage for the keys to which tokens are bound (RFC 9449). Keys never leave the device. Members can be called from any thread and must
/// perform only short local work.
public protocol DPoPKeyStorage: Sendable {
    /// Returns the key of a client, or `nil` if there is none.
    /// - Parameter name: The client's name: up to 64 characters of base64url.
    /// - Throws: Read errors; ``DPoPError`` with ``DPoPError/Code/keyLost`` or ``DPoPError/Code/keyUnusable`` if the stored key can never
    ///   be used again.
    func key(named name: String) throws -> DPoPKey?

    /// Returns the key of a client and creates it durably if there is none. Concurrent callers, also in other processes, receive the same
    /// key. Called at sign-in. A key that can never be used again is replaced, because otherwise sign-in on this device would always fail.
    /// A key that is temporarily unreadable is not replaced.
    /// - Throws: Read and write errors. After ``DPoPError/Code/keyLost`` and ``DPoPError/Code/keyUnusable`` the client removes the key and
    ///   calls this function once more.
    func keyMakingOne(named name: String) throws -> DPoPKey

    /// Deletes the key of a client permanently. No-op if there is none.
    /// - Throws: Write errors.
    func removeKey(named name: String) throws
}

/// A key storage in memory, for tests and for tools that sign in each time.
public final class MemoryDPoPKeyStorage: DPoPKeyStorage {
    private let keys = Locked<[String: DPoPKey]>([:])

    /// Creates an empty storage.
    public init() {}

    /// Returns the key of a client.
    public func key(named name: String) throws -> DPoPKey? { keys.withLock { $0[name] } }

    /// Returns the key of a client and creates it if there is none.
    public func keyMakingOne(named name: String) throws -> DPoPKey {
        try keys.withLock { keys in
            if let key = keys[name] { return key }
            let key = try DPoPKey(.generate(.es256))
            keys[name] = key
            return key
        }
    }

    /// Deletes the key of a client.
    public func removeKey(named name: String) throws {
        keys.withLock { $0[name] = nil }
    }
}

/// An error of a DPoP key, or of tokens that are not bound to the key (RFC 9449). Two errors are equal if their codes are equal.
public struct DPoPError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Sendable, Equatable {
    /// An extensible error code.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The key to which the tokens are bound is not on this device, for example after a restore. The user must sign in again; a retry
        /// fails.
        public static let keyLost = Code(rawValue: "keyLost")
        /// The server issued tokens that are not bound to the key. They were rejected.
        public static let downgraded = Code(rawValue: "downgraded")
        /// The stored key is invalid.
        public static let keyUnusable = Code(rawValue: "keyUnusable")
    }

    /// The error code.
    public let code: Code

    /// The reason and a remedy, in English, for developers.
    public let message: String

    /// The underlying error.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    static var keyLost: DPoPError {
        DPoPError(.keyLost, "The key that this session is bound to is no longer on this device. Sign in again.")
    }

    /// Whether the stored key can never be used again.
    var isFinal: Bool { code == .keyLost || code == .keyUnusable }

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch code {
        case .keyLost: .signedOut
        case .keyUnusable: .storedDamaged
        default: .appSetup
        }
    }

    /// The message, the code and the underlying error, for developers.
    public var debugDescription: String { technicalText(message, [code.rawValue], causedBy: underlying) }

    /// Whether the codes are equal.
    public static func == (left: DPoPError, right: DPoPError) -> Bool { left.code == right.code }
}
