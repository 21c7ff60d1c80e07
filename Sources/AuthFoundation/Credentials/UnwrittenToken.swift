import Foundation

/// A new token that a refresh received and could not store, for example because the disk was full or the device was locked. The server no
/// longer accepts the stored refresh token. Therefore the store of the credentials keeps the new token in memory until it is written.
struct UnwrittenToken: Sendable {
    let token: Token
    /// The stored token that the new one replaces.
    let replaced: Token

    /// Whether the new token must replace the stored one. It must not if another process has stored a newer one meanwhile.
    func counts(over stored: Token) -> Bool { stored != token && (stored == replaced || token.isNewer(than: stored)) }

    /// Whether an error of the storage means that the session was removed.
    static func isRemoval(_ error: any Error) -> Bool {
        switch error {
        case TokenError.tokenNotFound, TokenError.cannotReplaceToken, KeychainError.notFound: true
        default: false
        }
    }
}

extension TokenStorage {
    /// Stores a refreshed token, unless another process has stored a later one, such as while this process was suspended. Never asks the
    /// user.
    /// - Returns: The token that is stored now.
    func storeRefreshed(_ new: Token, replacing old: Token) throws -> Token {
        if let shared = self as? any SharedTokenStorage {
            do {
                let stored = try shared.storedToken(id: new.id, mayAsk: false)
                guard UnwrittenToken(token: new, replaced: old).counts(over: stored) else { return stored }
            } catch {
                if UnwrittenToken.isRemoval(error) { throw error }
                // Only the user can unlock the stored token. If another process has changed it, it may be the later one.
                if (error as? KeychainError)?.isLocked == true, try !shared.isUnchanged(id: new.id) { throw error }
                // A damaged token is replaced.
            }
        }
        try replace(token: new.id, with: new, security: nil)
        return new
    }
}

extension CredentialStore {
    /// Keeps a token that could not be stored. It is written at the next refresh or read of the credential, or after the device was
    /// unlocked. It is lost with the process.
    func keepUnwritten(_ token: Token, replacing replaced: Token) {
        unwritten[token.id] = UnwrittenToken(token: token, replaced: replaced)
        observeUnlock()
    }

    /// Writes the kept token of a credential, if there is one. The caller must hold the refresh lock, and must have read `stored` under it.
    /// - Returns: The token that is stored now.
    /// - Throws: ``TokenError/cannotReplaceToken`` if the session was removed, after which the kept token is revoked; storage errors, after
    ///   which the token stays kept.
    func writeUnwritten(over stored: Token) throws -> Token {
        guard let kept = unwritten[stored.id] else { return stored }
        guard kept.counts(over: stored) else {
            // Not revoked: a revocation could end the session of the newer token.
            unwritten[stored.id] = nil
            return stored
        }
        do {
            try tokenStorage.replace(token: stored.id, with: kept.token, security: nil)
        } catch TokenError.cannotReplaceToken {
            revokeUnwritten(stored.id)
            throw TokenError.cannotReplaceToken
        }
        unwritten[stored.id] = nil
        credential(withID: stored.id)?.adopt(kept.token)
        return kept.token
    }

    /// Returns the token to use after a read: the kept token if it can be written now, otherwise the stored one.
    func tokenAfterRead(_ stored: Token) -> Token {
        guard unwritten[stored.id] != nil else { return stored }
        guard let shared = tokenStorage as? any SharedTokenStorage else { return (try? writeUnwritten(over: stored)) ?? stored }
        // If another process has the lock, it is refreshing the token, and stores its own. After an error, the next read or refresh tries
        // again.
        guard let lock = try? shared.lockForRefresh(of: stored.id) else { return stored }
        defer { lock.release() }
        return (try? writeUnwritten(over: shared.storedToken(id: stored.id, mayAsk: false))) ?? stored
    }

    /// Writes the kept tokens whose sessions can be read without a prompt.
    func writeAllUnwritten() {
        guard let shared = tokenStorage as? any SharedTokenStorage else { return }
        for id in unwritten.keys.sorted() where (try? shared.asksUser(forToken: id)) == false {
            do {
                _ = tokenAfterRead(try shared.storedToken(id: id, mayAsk: false))
            } catch {
                // After any other error, the next read or refresh tries again.
                if UnwrittenToken.isRemoval(error) { revokeUnwritten(id) }
            }
            credential(withID: id)?.forgetTokenIfLocked()
        }
    }

    /// Revokes the kept token of a credential whose session was removed: no caller has received it.
    func revokeUnwritten(_ id: String) {
        guard let kept = unwritten.removeValue(forKey: id) else { return }
        keepForRevocation(kept.token)
    }

    private func observeUnlock() {
        #if os(iOS) || os(tvOS) || os(visionOS)
        guard !isObservingUnlock else { return }
        isObservingUnlock = true
        // By name, because the module does not depend on UIKit. The observer lasts as long as the process.
        let unlocked = Notification.Name("UIApplicationProtectedDataDidBecomeAvailable")
        _ = NotificationCenter.default.addObserver(forName: unlocked, object: nil, queue: nil) { [weak self] _ in
            Task { await self?.writeAllUnwritten() }
        }
        #endif
    }
}
