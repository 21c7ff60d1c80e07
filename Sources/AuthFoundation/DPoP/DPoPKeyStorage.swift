import JOSE

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
    ///   calls this once more.
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
