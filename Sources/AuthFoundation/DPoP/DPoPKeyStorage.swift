import JOSE

/// Where clients keep the keys that their tokens are bound to (RFC 9449). A key never leaves the device.
///
/// Members may be called from any thread, and do short local work only.
public protocol DPoPKeyStorage: Sendable {
    /// The key of a client.
    ///
    /// - Parameter name: The client's name: up to 64 characters of base64url.
    /// - Returns: The key; nil if there is none.
    /// - Throws: Errors of reading; ``DPoPError`` with ``DPoPError/Code/keyLost`` or ``DPoPError/Code/keyUnusable`` if what is stored can
    ///   never be used again.
    func key(named name: String) throws -> DPoPKey?

    /// The key of a client, which is made if there is none: one for all who ask at the same time, in this and in other processes.
    ///
    /// Sign-ins ask for it. A key that can never be used again is replaced, or nobody could sign in on this device any more; one that can't
    /// be read for now is not.
    ///
    /// - Parameter name: The client's name.
    /// - Returns: The key, which is stored durably.
    /// - Throws: Errors of reading and writing. After ``DPoPError/Code/keyLost`` and ``DPoPError/Code/keyUnusable`` the client removes the
    ///   key and asks again, once.
    func keyMakingOne(named name: String) throws -> DPoPKey

    /// Deletes the key of a client for good. One that is not there is no error.
    ///
    /// - Parameter name: The client's name.
    /// - Throws: Errors of writing.
    func removeKey(named name: String) throws
}

/// Keeps keys in memory: for tests, and for tools that sign in each time.
public final class MemoryDPoPKeyStorage: DPoPKeyStorage {
    private let keys = Locked<[String: DPoPKey]>([:])

    /// A storage without keys.
    public init() {}

    /// The key of a client.
    public func key(named name: String) throws -> DPoPKey? { keys.withLock { $0[name] } }

    /// The key of a client, which is made if there is none.
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
