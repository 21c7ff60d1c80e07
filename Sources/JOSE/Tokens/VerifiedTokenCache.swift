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

/// A verifier that remembers the tokens it accepted, so that checking one again is a look-up.
///
/// A remembered token is judged by its lifetime, issuer and audience each time; only its signature is not checked again. Tokens
/// that were refused are not remembered. At most ``capacity`` tokens are kept; those that were not seen for longest go first.
///
/// Safe from any thread: a lock is held for the look-up alone, never while a signature is checked.
public final class VerifiedTokenCache: Sendable {
    /// The most tokens that are kept.
    public let capacity: Int

    /// One verifier with what it accepted; a reference, so that a look-up copies no more than that.
    private final class Acceptance: Sendable {
        let verifier: JWTVerifier

        init(_ verifier: JWTVerifier) { self.verifier = verifier }
    }

    private struct State: Sendable {
        var acceptance: Acceptance
        // Two generations: a token that is seen moves to the younger one; when that is full, the older one goes.
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

        /// Returns what is forgotten, so that it is freed outside of the lock.
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

    /// Makes a cache.
    ///
    /// - Parameters:
    ///   - verifier: Verifies tokens that are not known yet.
    ///   - capacity: The most tokens to keep, at least 2.
    public init(verifier: JWTVerifier, capacity: Int = 4096) {
        self.capacity = max(capacity, 2)
        #if canImport(os)
        state = OSAllocatedUnfairLock(initialState: State(verifier: verifier))
        #else
        state = Mutex(State(verifier: verifier))
        #endif
    }

    /// How many tokens are kept now, expired ones among them.
    public var count: Int { state.withLock { $0.younger.count + $0.older.count } }

    /// The verifier in use.
    public var verifier: JWTVerifier { state.withLock { $0.acceptance }.verifier }

    /// Takes another verifier and forgets all tokens; for when the keys have changed.
    ///
    /// - Parameter verifier: Verifies from now on.
    public func replaceVerifier(_ verifier: JWTVerifier) {
        let forgotten = state.withLock { state in
            defer { state = State(verifier: verifier) }
            return state
        }
        // Freed here, outside of the lock.
        withExtendedLifetime(forgotten) {}
    }

    /// Forgets all tokens.
    public func removeAll() { replaceVerifier(verifier) }

    /// Verifies a token, or finds that it was verified.
    ///
    /// - Parameters:
    ///   - token: The token in compact form.
    ///   - now: The time to judge its lifetime by.
    /// - Returns: The verified claims.
    /// - Throws: What ``JWTVerifier/verify(_:now:)`` throws.
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
        // Not if the verifier was replaced in the meantime: its keys may no longer be good.
        let forgotten = state.withLock { $0.acceptance === acceptance ? $0.remember(claims, as: key, atMost: half) : [:] }
        withExtendedLifetime(forgotten) {}
        return claims
    }
}

/// A token as a key: hashed by its end, where the signature has chance enough, and compared whole.
///
/// Only accepted tokens are kept, and whoever can make two of them with the same end can make any token: there is no flooding to fear.
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
        // Both were made contiguous; the fallback is as exact.
        return (isEqual ?? nil) ?? lhs.token.utf8.elementsEqual(rhs.token.utf8)
    }
}
