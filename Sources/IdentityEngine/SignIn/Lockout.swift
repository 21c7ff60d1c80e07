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
        failedCodes = nil
        return true
    }

    /// Whether a locked account has waited long enough.
    func isLockOver(policy: PasswordPolicy, now: Date) -> Bool {
        guard let lockedAt, let minutes = policy.lockoutMinutes else { return false }
        return now >= lockedAt.addingTimeInterval(Double(minutes) * 60)
    }

    /// Whether a right factor lets the user go on. Elsewhere a right answer must not do more work than a wrong one.
    func isOpen(policy: PasswordPolicy, now: Date) -> Bool {
        status == .active && (lockedAt == nil || isLockOver(policy: policy, now: now))
    }

    /// Whether mistakes have closed the account, or their question.
    func isClosedByMistakes(at now: Date) -> Bool { lockedAt != nil || guessedAnswers?.isClosed(at: now) == true }

    /// Opens what mistakes closed.
    mutating func forgetMistakes() {
        lockedAt = nil
        failedAttempts = 0
        failedCodes = nil
        guessedAnswers = nil
    }

    /// What counts towards the lock: wrong passwords and wrong codes together.
    var allFailures: Int { failedAttempts + (failedCodes ?? [:]).values.reduce(0, +) }

    /// Counts a failed attempt and locks the account when they are too many.
    ///
    /// - Returns: Whether this attempt locked it.
    mutating func countFailure(of factor: FactorKind, policy: PasswordPolicy, now: Date) -> Bool {
        if factor == .password {
            failedAttempts += 1
        } else {
            failedCodes = (failedCodes ?? [:]).merging([factor.rawValue: 1], uniquingKeysWith: +)
        }
        guard policy.lockoutAttempts > 0, allFailures >= policy.lockoutAttempts else { return false }
        lockedAt = now
        return true
    }

    /// A right answer forgets the wrong ones of its own kind only: who knows the password, or reads the mail, would guess codes without end.
    mutating func forgetFailures(of factor: FactorKind) {
        if factor == .password { failedAttempts = 0 } else { failedCodes = failedCodes?.filter { $0.key != factor.rawValue } }
        if failedCodes?.isEmpty == true { failedCodes = nil }
        // Whoever knows the password has no need to guess; how often that may be done in a day stays.
        if factor == .password { guessedAnswers?.forgetAll() }
        if factor == .question { guessedAnswers = nil }
    }
}

/// Wrong answers to a person's question, over all recoveries together: each of them begins with as many attempts as the one before, and where
/// people may unlock themselves no lock is in the way (NIST SP 800-63B section 5.2.2).
struct GuessedAnswers: Sendable, Equatable, Codable {
    /// Seconds in which so many wrong answers close the question.
    static let window: TimeInterval = 86_400
    /// The most wrong answers in that time.
    static let mostInWindow = 10
    /// The most without a right one, or a right password, among them: then only that password, or an administrator, opens the question again.
    static let most = 100

    /// When the last ones were given.
    private(set) var times: [Date] = []
    private(set) var count = 0

    /// Whether no answer is looked at.
    func isClosed(at now: Date) -> Bool {
        count >= Self.most || times.count { $0 > now.addingTimeInterval(-Self.window) } >= Self.mostInWindow
    }

    /// Counts anew, but for those of the last day.
    mutating func forgetAll() { count = 0 }

    /// Counts another one.
    mutating func add(at now: Date) {
        times = times.filter { $0 > now.addingTimeInterval(-Self.window) } + [now]
        count += 1
    }
}
