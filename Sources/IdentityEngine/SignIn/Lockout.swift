internal import Foundation

/// What guessing does to an account.
extension User {
    /// Opens a lock whose time is over.
    ///
    /// - Returns: Whether the account is open now.
    mutating func openLock(policy: PasswordPolicy, now: Date) -> Bool {
        guard let lockedAt else { return true }
        guard let minutes = policy.lockoutMinutes, now >= lockedAt.addingTimeInterval(Double(minutes) * 60) else { return false }
        self.lockedAt = nil
        failedAttempts = 0
        return true
    }

    /// Counts a failed attempt and locks the account when they are too many.
    ///
    /// - Returns: Whether this attempt locked it.
    mutating func countFailure(policy: PasswordPolicy, now: Date) -> Bool {
        failedAttempts += 1
        guard policy.lockoutAttempts > 0, failedAttempts >= policy.lockoutAttempts else { return false }
        lockedAt = now
        return true
    }
}
