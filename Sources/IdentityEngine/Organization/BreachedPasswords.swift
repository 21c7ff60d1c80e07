internal import Crypto
internal import Foundation

/// A lookup of passwords that were exposed in data breaches. Safe from any task.
public protocol BreachedPasswordSource: Sendable {
    /// Looks up a password in bounded time. It fails open: if the lists are unavailable, the password counts as unknown.
    ///
    /// - Parameter sha1: The SHA-1 digest of the password, 20 bytes.
    /// - Returns: Whether the password is known.
    func contains(sha1: [UInt8]) async -> Bool
}

extension IdentityEngine {
    /// Whether a new password is known from a data breach. Called when a password is set, never at sign-in, and outside store transactions.
    func isBreached(_ password: String) async -> Bool {
        guard let source = environment.breachedPasswords else { return false }
        // Published lists use SHA-1; the digest protects nothing here.
        let digest = Insecure.SHA1.hash(data: Data(password.precomposedStringWithCanonicalMapping.utf8))
        return await source.contains(sha1: Array(digest))
    }
}
