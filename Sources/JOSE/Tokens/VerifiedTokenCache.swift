#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
#if canImport(os)
internal import os
#else
internal import Synchronization
#endif

/// A token verifier that caches accepted tokens, so that their signatures are checked only once.
/// Each use of a cached token checks its lifetime, issuer and audience again. Rejected tokens are not cached. When the cache exceeds
/// ``capacity``, it removes tokens that have not been used recently.
/// The cache is thread-safe: it holds a lock during look-ups only, never while it checks a signature.
public final class VerifiedTokenCache: Sendable {
    /// The maximum number of cached tokens.
    public let capacity: Int

    /// The current verifier. It is a reference, so that a look-up copies only a pointer and can detect a replacement by identity.
    private final class Acceptance: Sendable {
        let verifier: JWTVerifier

        init(_ verifier: JWTVerifier) { self.verifier = verifier }
    }

    private struct State: Sendable {
        var acceptance: Acceptance
        // Two generations: a token that is used moves to the younger one. When the younger one is full, the older one is discarded and the
        // younger one takes its place.
        var younger: [TokenKey: ClaimSet] = [:]
        var older: [TokenKey: ClaimSet] = [:]

        init(verifier: JWTVerifier) { acceptance = Acceptance(verifier) }

        mutating func look(for key: TokenKey, atMost half: Int) -> (known: ClaimSet?, forgotten: [TokenKey: ClaimSet]) {
            if let claims = younger[key] { return (claims, [:]) }
            guard let claims = older[key] else { return (nil, [:]) }
            return (claims, remember(claims, as: key, atMost: half))
        }

        mutating func remove(_ key: TokenKey) {
            younger[key] = nil
            older[key] = nil
        }

        /// Adds a token. Returns the discarded tokens, so that the caller frees them outside the lock.
        mutating func remember(_ claims: ClaimSet, as key: TokenKey, atMost half: Int) -> [TokenKey: ClaimSet] {
            var forgotten: [TokenKey: ClaimSet] = [:]
            older[key] = nil
            if younger.count >= half {
                forgotten = older
                older = younger
                younger = [:]
            }
            younger[key] = claims
            return forgotten
        }
    }

    #if canImport(os)
    private let state: OSAllocatedUnfairLock<State>
    #else
    private let state: Mutex<State>
    #endif

    /// Creates a cache.
    /// - Parameters:
    ///   - verifier: The verifier for tokens that are not cached.
    ///   - capacity: The maximum number of cached tokens, at least 2.
    public init(verifier: JWTVerifier, capacity: Int = 4096) {
        self.capacity = max(capacity, 2)
        #if canImport(os)
        state = OSAllocatedUnfairLock(initialState: State(verifier: verifier))
        #else
        state = Mutex(State(verifier: verifier))
        #endif
    }

    /// The number of cached tokens, including expired ones.
    public var count: Int { state.withLock { $0.younger.count + $0.older.count } }

    /// The verifier in use.
    public var verifier: JWTVerifier { state.withLock { $0.acceptance }.verifier }

    /// Replaces the verifier and removes all tokens. Call this when the keys change.
    public func replaceVerifier(_ verifier: JWTVerifier) {
        let forgotten = state.withLock { state in
            defer { state = State(verifier: verifier) }
            return state
        }
        // The old tokens are freed here, outside the lock.
        withExtendedLifetime(forgotten) {}
    }

    /// Removes all tokens.
    public func removeAll() { replaceVerifier(verifier) }

    /// Verifies a token, or returns the claims of a cached token that is still valid.
    /// - Throws: The errors of ``JWTVerifier/verify(_:now:)``.
    public func verify(_ token: String, now: Date) throws(JOSEError) -> ClaimSet {
        let key = TokenKey(token)
        let half = capacity / 2
        let (acceptance, found) = state.withLock { ($0.acceptance, $0.look(for: key, atMost: half)) }
        if let known = found.known {
            do throws(JOSEError) {
                try acceptance.verifier.check(known, now: now)
                return known
            } catch {
                state.withLock { $0.remove(key) }
                throw error
            }
        }
        let claims = try acceptance.verifier.verify(token, now: now)
        // The token is not cached if the verifier was replaced in the meantime, because the keys of the old verifier may be invalid now.
        let forgotten = state.withLock { $0.acceptance === acceptance ? $0.remember(claims, as: key, atMost: half) : [:] }
        withExtendedLifetime(forgotten) {}
        return claims
    }
}

/// A token as a dictionary key. Only its last 32 bytes are hashed; the whole token is compared.
/// Hash flooding is no risk: only accepted tokens are stored, and their last bytes belong to a signature.
private struct TokenKey: Hashable, Sendable {
    private var token: String

    init(_ token: String) {
        self.token = token
        self.token.makeContiguousUTF8()
    }

    func hash(into hasher: inout Hasher) {
        let isHashed: Void? = token.utf8.withContiguousStorageIfAvailable { bytes in
            hasher.combine(bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes.suffix(32))))
        }
        if isHashed == nil { hasher.combine(token) }
    }

    static func == (lhs: TokenKey, rhs: TokenKey) -> Bool {
        let isEqual = lhs.token.utf8.withContiguousStorageIfAvailable { left in
            rhs.token.utf8.withContiguousStorageIfAvailable { left.hasSameBytes(as: $0) }
        }
        // Both tokens are contiguous, so the exact fallback is not needed in practice.
        return (isEqual ?? nil) ?? lhs.token.utf8.elementsEqual(rhs.token.utf8)
    }
}
