internal import Crypto
internal import Foundation

/// Knows passwords that were exposed in data breaches. Safe from any task.
public protocol BreachedPasswordSource: Sendable {
    /// Looks a password up; it takes a bounded time. It fails open: what can't be asked counts as unknown.
    ///
    /// - Parameter sha1: The SHA-1 digest of the password, 20 bytes.
    /// - Returns: Whether the password is known.
    func contains(sha1: [UInt8]) async -> Bool
}

extension IdentityEngine {
    /// Whether a new password is known from a data breach. Asked where a password is set, never where one is typed to sign in, and outside of
    /// store transactions.
    func isBreached(_ password: String) async -> Bool {
        guard let source = environment.breachedPasswords else { return false }
        // SHA-1 is what published lists are made with; it protects nothing here.
        let digest = Insecure.SHA1.hash(data: Data(password.precomposedStringWithCanonicalMapping.utf8))
        return await source.contains(sha1: Array(digest))
    }
}
