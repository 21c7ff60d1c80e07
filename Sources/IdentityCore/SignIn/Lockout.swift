package import Foundation
internal import Store

/// The consecutive wrong answers of one group of callers.
struct FailureCounts: Sendable, Equatable, Codable {
    /// Wrong answers with which a sign-in began, by factor.
    var first: [String: Int] = [:]
    /// Wrong answers after another factor was proved, by factor.
    var further: [String: Int] = [:]
    /// The time when the last wrong answer locked the account for these callers; `nil` if the account is not locked for them.
    var lockedAt: Date?

    /// The maximum number of consecutive wrong answers to one factor. Further answers are ignored (NIST SP 800-63B section 5.2.2).
    static let most = 100

    subscript(factor: FactorKind, isFurther isFurther: Bool) -> Int {
        get { (isFurther ? further : first)[factor.rawValue] ?? 0 }
        set {
            if isFurther {
                further[factor.rawValue] = newValue > 0 ? newValue : nil
            } else {
                first[factor.rawValue] = newValue > 0 ? newValue : nil
            }
        }
    }

    /// The number of wrong answers that count towards the next lock. Closed factors are excluded, because they can no longer be guessed.
    var total: Int { [first, further].flatMap(\.values).filter { $0 < Self.most }.reduce(0, +) }

    /// Whether too many wrong answers closed a factor. A password policy without lockout never closes the password.
    func isClosed(_ factor: FactorKind, isFurther: Bool, policy: PasswordPolicy) -> Bool {
        self[factor, isFurther: isFurther] >= Self.most && (factor != .password || policy.lockoutAttempts > 0)
    }

    /// The factors that wrong answers closed.
    var closed: Set<FactorKind> {
        Set([first, further].flatMap { $0.filter { $0.value >= Self.most }.keys }.map(FactorKind.init))
    }

    func isLocked(policy: PasswordPolicy, now: Date) -> Bool {
        guard let lockedAt else { return false }
        guard let time = policy.lockTime(failures: total) else { return true }
        return now < lockedAt.addingTimeInterval(time)
    }

    /// Adds the counts of a forgotten origin to these counts, which already include the wrong codes for factors that were never proved at
    /// that origin.
    mutating func add(_ other: FailureCounts, of origin: KnownOrigin) {
        func add(_ counts: inout [String: Int], _ others: [String: Int]) {
            for (factor, count) in others {
                let isCounted = factor != FactorKind.password.rawValue && !origin.proved.contains(factor)
                counts[factor] = isCounted ? max(counts[factor] ?? 0, count) : (counts[factor] ?? 0) + count
            }
        }
        add(&first, other.first)
        add(&further, other.further)
        lockedAt = [lockedAt, other.lockedAt].compactMap(\.self).max()
    }

    /// Resets the wrong answers to a factor.
    mutating func forget(_ factor: FactorKind) {
        self[factor, isFurther: false] = 0
        self[factor, isFurther: true] = 0
    }
}

extension PasswordPolicy {
    /// The durations in seconds of the first consecutive locks.
    static let lockTimes: [TimeInterval] = [30, 60, 120, 300, 900]

    /// Returns the duration of a lock in seconds; `nil` for a permanent lock. The duration grows with each further wrong answer, up to
    /// ``lockoutMinutes``. `failures` includes the wrong answer that caused the lock.
    func lockTime(failures: Int) -> TimeInterval? {
        guard let lockoutMinutes else { return nil }
        let longest = TimeInterval(lockoutMinutes) * 60
        let step = max(failures - lockoutAttempts, 0)
        return step < Self.lockTimes.count ? min(Self.lockTimes[step], longest) : longest
    }
}

extension User {
    /// The wrong answers of a group of callers.
    subscript(callers: Callers) -> FailureCounts {
        get {
            switch callers {
            case .known(let id): return usedOrigins?.first { $0.id == id }?.failures ?? FailureCounts()
            case .others:
                var first = failedCodes ?? [:]
                first[FactorKind.password.rawValue] = failedAttempts > 0 ? failedAttempts : nil
                return FailureCounts(first: first, further: failedFurther ?? [:], lockedAt: lockedAt)
            }
        }
        set {
            switch callers {
            case .known(let id):
                guard let index = usedOrigins?.firstIndex(where: { $0.id == id }) else { return }
                usedOrigins?[index].failures = newValue == FailureCounts() ? nil : newValue
            case .others:
                failedAttempts = newValue[.password, isFurther: false]
                let codes = newValue.first.filter { $0.key != FactorKind.password.rawValue }
                failedCodes = codes.isEmpty ? nil : codes
                failedFurther = newValue.further.isEmpty ? nil : newValue.further
                lockedAt = newValue.lockedAt
            }
        }
    }

    private var allCallers: [Callers] { [.others] + (usedOrigins ?? []).map { .known($0.id) } }

    private mutating func changeCounts(_ change: (inout FailureCounts) -> Void) {
        for callers in allCallers { change(&self[callers]) }
    }

    /// Whether wrong answers locked the account for requests from an origin.
    package func isLocked(for origin: RequestOrigin, policy: PasswordPolicy, now: Date) -> Bool {
        self[callers(from: origin)].isLocked(policy: policy, now: now)
    }

    /// Whether a correct answer lets the user continue. If not, a correct answer must not cause more work than a wrong one.
    func isOpen(to origin: RequestOrigin, policy: PasswordPolicy, now: Date) -> Bool {
        status == .active && !isLocked(for: origin, policy: policy, now: now)
    }

    /// Whether wrong answers locked the account for any callers. Includes expired locks that no sign-in has removed yet.
    package var hasLock: Bool { allCallers.contains { self[$0].lockedAt != nil } }

    /// Removes an expired lock. Returns `false` if the lock is still in effect.
    mutating func openLock(for callers: Callers, policy: PasswordPolicy, now: Date) -> Bool {
        guard self[callers].lockedAt != nil else { return true }
        guard !self[callers].isLocked(policy: policy, now: now) else { return false }
        self[callers].lockedAt = nil
        return true
    }

    /// Whether wrong answers locked the account or closed a factor or the recovery, which an unlock by an administrator would reopen.
    func isClosedByMistakes(at now: Date) -> Bool {
        hasLock || allCallers.contains { !self[$0].closed.isEmpty } || guessedAnswers?.isClosed(at: now) == true
            || guessedCodes?.isClosed(at: now) == true
    }

    /// Resets all wrong answers and removes all locks, for an unlock by an administrator.
    mutating func forgetMistakes() {
        changeCounts { $0 = FailureCounts() }
        guessedAnswers = nil
        guessedCodes = nil
    }

    /// Removes all locks and resets wrong passwords, after a recovery or a new password. Wrong codes stay counted: otherwise an attacker
    /// with access to the user's mailbox could guess codes without a limit.
    mutating func openLocks() {
        changeCounts {
            $0.lockedAt = nil
            $0.forget(.password)
        }
    }

    /// Resets the wrong answers to a factor that was enrolled again.
    mutating func forgetFailures(ofReplaced factor: FactorKind) { changeCounts { $0.forget(factor) } }

    enum Consequence: Equatable {
        case none
        /// The account is locked for these callers after this number of wrong answers.
        case locked(Int)
        /// The factor is closed for these callers until it is reopened.
        case closed
    }

    /// Returns the groups of callers for which wrong answers to a factor count. An attacker with the password can make any origin known. So
    /// wrong codes from a known origin where the factor was never proved also count for unknown origins: a new origin gives no attempts.
    private func counted(_ factor: FactorKind, from callers: Callers) -> [Callers] {
        guard case .known(let id) = callers, factor != .password,
            usedOrigins?.first(where: { $0.id == id })?.proved.contains(factor.rawValue) == false
        else { return [callers] }
        return [callers, .others]
    }

    /// Whether too many wrong answers closed a factor for a group of callers.
    func isClosed(_ factor: FactorKind, to callers: Callers, isFurther: Bool, policy: PasswordPolicy) -> Bool {
        counted(factor, from: callers).contains { self[$0].isClosed(factor, isFurther: isFurther, policy: policy) }
    }

    /// Whether answers to the security question are ignored. Wrong answers count together for all endpoints and origins, so that several
    /// endpoints do not allow more guesses than one.
    package func isQuestionClosed(at now: Date) -> Bool { guessedAnswers?.isClosed(at: now) == true }

    /// Counts a wrong answer. Returns ``Consequence/locked(_:)`` only if the account was not locked before.
    mutating func countFailure(
        of factor: FactorKind, from callers: Callers = .others, isFurther: Bool = false, policy: PasswordPolicy, now: Date
    ) -> Consequence {
        if factor == .question {
            var guessed = guessedAnswers ?? RecoveryGuesses()
            guessed.add(at: now)
            guessedAnswers = guessed
        }
        let groups = counted(factor, from: callers)
        let wasClosed = isClosed(factor, to: callers, isFurther: isFurther, policy: policy)
        for group in groups { self[group][factor, isFurther: isFurther] += 1 }
        let wasLocked = self[callers].lockedAt != nil
        // After a password, wrong answers from elsewhere count too. Otherwise they must not, or an attacker could lock out the owner.
        let elsewhere = isFurther ? groups.map { self[$0][factor, isFurther: true] }.max() ?? 0 : 0
        let total = max(self[callers].total, elsewhere)
        if policy.lockoutAttempts > 0, total >= policy.lockoutAttempts { self[callers].lockedAt = now }
        if !wasClosed, isClosed(factor, to: callers, isFurther: isFurther, policy: policy) { return .closed }
        return self[callers].lockedAt == now && !wasLocked ? .locked(total) : .none
    }

    /// Resets the wrong answers to a factor after a correct answer from the same callers. Wrong codes of other callers stay counted: if
    /// each sign-in of the owner reset them, an attacker would eventually guess six digits. Wrong passwords are reset for all callers.
    mutating func forgetFailures(of factor: FactorKind, from callers: Callers = .others) {
        for group in counted(factor, from: callers) { self[group].forget(factor) }
        guard factor == .password else {
            if factor == .question { guessedAnswers = nil }
            return
        }
        changeCounts { $0.forget(.password) }
        // A caller that knows the password has no need to guess the answer. The daily limit stays.
        guessedAnswers?.forgetAll()
        guessedCodes?.forgetAll()
    }

    /// Records a completed sign-in: its origin becomes known, and a possession or inherence factor reopens other closed factors.
    mutating func completeSignIn(by proofs: [SignInTransaction.Proof], from origin: RequestOrigin) {
        let callers = callers(from: origin)
        for factor in self[callers].closed.union(self[.others].closed)
        where proofs.contains(where: { $0.factor != factor && !$0.factorClasses.isDisjoint(with: [.possession, .inherence]) }) {
            for group in counted(factor, from: callers) { self[group].forget(factor) }
        }
        remember(origin, provedBy: Set(proofs.map(\.factor.rawValue)))
    }
}

/// The wrong answers to a user's security question at all endpoints, or the wrong codes of all the user's recoveries. They need a common
/// limit, because each recovery starts with new attempts and self-service unlock ignores locks (NIST SP 800-63B section 5.2.2).
package struct RecoveryGuesses: Sendable, Equatable, Codable {
    /// The length in seconds of the time window in which wrong answers are limited.
    static let window: TimeInterval = 86_400
    /// The maximum number of wrong answers in ``window``.
    static let mostInWindow = 10
    /// The maximum number of consecutive wrong answers. After that, only a correct password or an administrator permits further answers.
    static let most = FailureCounts.most

    /// The times of the wrong answers within the last ``window``.
    private(set) var times: [Date] = []
    private(set) var count = 0

    /// Whether every answer is rejected.
    package func isClosed(at now: Date) -> Bool {
        count >= Self.most || times.count { $0 > now.addingTimeInterval(-Self.window) } >= Self.mostInWindow
    }

    /// Resets the count. The limit of the time window still applies.
    mutating func forgetAll() { count = 0 }

    mutating func add(at now: Date) {
        times = times.filter { $0 > now.addingTimeInterval(-Self.window) } + [now]
        count += 1
    }
}

extension StoredUser {
    /// Returns the change that stores the user after a factor was enrolled again, with the factor's wrong answers reset.
    func renewing(_ factor: FactorKind) throws -> Change {
        var user = value
        user.forgetFailures(ofReplaced: factor)
        return .put(try record(holding: user))
    }
}
