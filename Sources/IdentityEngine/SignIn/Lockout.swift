internal import Foundation

/// What guessing does to an account.
extension User {
    /// Opens a lock whose time is over.
    ///
    /// - Returns: Whether the account is open now.
    mutating func openLock(policy: PasswordPolicy, now: Date) -> Bool {
        guard lockedAt != nil else { return true }
        guard isLockOver(policy: policy, now: now) else { return false }
        lockedAt = nil
        failedAttempts = 0
        return true
    }

    /// Whether a locked account has waited long enough.
    func isLockOver(policy: PasswordPolicy, now: Date) -> Bool {
        guard let lockedAt, let minutes = policy.lockoutMinutes else { return false }
        return now >= lockedAt.addingTimeInterval(Double(minutes) * 60)
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
