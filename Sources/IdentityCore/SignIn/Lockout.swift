package import Foundation
internal import Store

/// The consecutive wrong answers of one group of callers.
struct FailureCounts: Sendable, Equatable, Codable {
    /// Wrong answers with which a sign-in began, by factor.
    var first: [String: Int] = [:]
    /// Wrong answers after another factor was proved, by factor.
    var further: [String: Int] = [:]
    /// The time when the last of them locked the account for these callers; `nil` if the account is not locked for them.
    var lockedAt: Date?

    /// The maximum number of consecutive wrong answers to one factor; further answers are ignored (NIST SP 800-63B section 5.2.2).
    static let most = 100

    /// The wrong answers to a factor.
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

    /// The wrong answers that count towards the next lock: all except those to closed factors, which can no longer be guessed.
    var total: Int { [first, further].flatMap(\.values).filter { $0 < Self.most }.reduce(0, +) }

    /// Whether too many wrong answers closed a factor for good. A password policy without lockout never closes the password.
    func isClosed(_ factor: FactorKind, isFurther: Bool, policy: PasswordPolicy) -> Bool {
        self[factor, isFurther: isFurther] >= Self.most && (factor != .password || policy.lockoutAttempts > 0)
    }

    /// The factors that wrong answers closed.
    var closed: Set<FactorKind> {
        Set([first, further].flatMap { $0.filter { $0.value >= Self.most }.keys }.map(FactorKind.init))
    }

    /// Whether a lock is in effect at a time.
    func isLocked(policy: PasswordPolicy, now: Date) -> Bool {
        guard let lockedAt else { return false }
        guard let time = policy.lockTime(failures: total) else { return true }
        return now < lockedAt.addingTimeInterval(time)
    }

    /// Adds the counts of a forgotten origin. Codes that were never right there are already counted here.
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
    /// Seconds of the first locks in a row.
    static let lockTimes: [TimeInterval] = [30, 60, 120, 300, 900]

    /// The duration of a lock in seconds: it grows with each further wrong answer, up to ``lockoutMinutes``.
    ///
    /// - Parameter failures: The consecutive wrong answers, including the one that caused the lock.
    /// - Returns: `nil` for a permanent lock.
    func lockTime(failures: Int) -> TimeInterval? {
        guard let lockoutMinutes else { return nil }
        let longest = TimeInterval(lockoutMinutes) * 60
        let step = max(failures - lockoutAttempts, 0)
        return step < Self.lockTimes.count ? min(Self.lockTimes[step], longest) : longest
    }
}

/// The effect of wrong answers on an account.
extension User {
    /// The wrong answers of some callers.
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

    /// All groups of callers whose wrong answers are counted.
    private var allCallers: [Callers] { [.others] + (usedOrigins ?? []).map { .known($0.id) } }

    /// Updates the counts of all callers.
    private mutating func changeCounts(_ change: (inout FailureCounts) -> Void) {
        for callers in allCallers { change(&self[callers]) }
    }

    /// Whether wrong answers locked the account for requests from an origin.
    package func isLocked(for origin: RequestOrigin, policy: PasswordPolicy, now: Date) -> Bool {
        self[callers(from: origin)].isLocked(policy: policy, now: now)
    }

    /// Whether a correct answer lets the user continue. If not, it must not do more work than a wrong answer.
    func isOpen(to origin: RequestOrigin, policy: PasswordPolicy, now: Date) -> Bool {
        status == .active && !isLocked(for: origin, policy: policy, now: now)
    }

    /// Whether wrong answers locked the account for any callers; also if that lock has expired and no sign-in followed.
    package var hasLock: Bool { allCallers.contains { self[$0].lockedAt != nil } }

    /// Removes an expired lock.
    ///
    /// - Returns: Whether the account is open now.
    mutating func openLock(for callers: Callers, policy: PasswordPolicy, now: Date) -> Bool {
        guard self[callers].lockedAt != nil else { return true }
        guard !self[callers].isLocked(policy: policy, now: now) else { return false }
        self[callers].lockedAt = nil
        return true
    }

    /// Whether an unlock would change anything.
    func isClosedByMistakes(at now: Date) -> Bool {
        hasLock || allCallers.contains { !self[$0].closed.isEmpty } || guessedAnswers?.isClosed(at: now) == true
            || guessedCodes?.isClosed(at: now) == true
    }

    /// Resets all wrong answers and removes all locks: an administrator unlocks the account.
    mutating func forgetMistakes() {
        changeCounts { $0 = FailureCounts() }
        guessedAnswers = nil
        guessedCodes = nil
    }

    /// Removes all locks and resets wrong passwords, after a recovery or a new password. Wrong codes stay counted: otherwise an attacker with
    /// the user's mailbox could guess codes without a limit.
    mutating func openLocks() {
        changeCounts {
            $0.lockedAt = nil
            $0.forget(.password)
        }
    }

    /// Resets the wrong answers to a factor that was set up again.
    mutating func forgetFailures(ofReplaced factor: FactorKind) { changeCounts { $0.forget(factor) } }

    /// The consequence of a wrong answer.
    enum Consequence: Equatable {
        case none
        /// The account is locked for these callers after this number of wrong answers.
        case locked(Int)
        /// The factor is closed for these callers until it is reopened.
        case closed
    }

    /// The counts that wrong answers to a factor belong to.
    ///
    /// An attacker who knows the password can make any address known. So wrong codes from an address without a correct one also count with those
    /// of unknown origins: the attacker gets no new attempts from another address.
    private func counted(_ factor: FactorKind, from callers: Callers) -> [Callers] {
        guard case .known(let id) = callers, factor != .password,
            usedOrigins?.first(where: { $0.id == id })?.proved.contains(factor.rawValue) == false
        else { return [callers] }
        return [callers, .others]
    }

    /// Whether too many wrong answers closed a factor for some callers.
    func isClosed(_ factor: FactorKind, to callers: Callers, isFurther: Bool, policy: PasswordPolicy) -> Bool {
        counted(factor, from: callers).contains { self[$0].isClosed(factor, isFurther: isFurther, policy: policy) }
    }

    /// Whether answers to the security question are ignored. Wrong answers of all endpoints and origins count together, so that several endpoints
    /// do not allow more guesses than one.
    package func isQuestionClosed(at now: Date) -> Bool { guessedAnswers?.isClosed(at: now) == true }

    /// Counts a wrong answer.
    ///
    /// - Returns: The consequence; ``Consequence/none`` if the account was already locked.
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
        // After a password, guesses from elsewhere count towards the lock here. Without a password they do not, or an attacker could lock the owner.
        let elsewhere = isFurther ? groups.map { self[$0][factor, isFurther: true] }.max() ?? 0 : 0
        let total = max(self[callers].total, elsewhere)
        if policy.lockoutAttempts > 0, total >= policy.lockoutAttempts { self[callers].lockedAt = now }
        if !wasClosed, isClosed(factor, to: callers, isFurther: isFurther, policy: policy) { return .closed }
        return self[callers].lockedAt == now && !wasLocked ? .locked(total) : .none
    }

    /// Resets the wrong answers to the same factor from the same callers after a correct one. Wrong codes of other callers stay counted: an
    /// attacker would eventually guess six digits if each sign-in of the owner reset the count. Wrong passwords are reset for all
    /// callers.
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

    /// Records a completed sign-in: its origin becomes known, and a possession factor reopens the factors that wrong answers
    /// closed.
    mutating func completeSignIn(by proofs: [SignInTransaction.Proof], from origin: RequestOrigin) {
        let callers = callers(from: origin)
        for factor in self[callers].closed.union(self[.others].closed)
        where proofs.contains(where: { $0.factor != factor && !$0.factorClasses.isDisjoint(with: [.possession, .inherence]) }) {
            for group in counted(factor, from: callers) { self[group].forget(factor) }
        }
        remember(origin, provedBy: Set(proofs.map(\.factor.rawValue)))
    }
}

/// Wrong answers to a user's question at every endpoint, or wrong codes over all recoveries together: each recovery begins with as many attempts as the one
/// before, and where users may unlock themselves no lock is in the way (NIST SP 800-63B section 5.2.2).
package struct RecoveryGuesses: Sendable, Equatable, Codable {
    /// The time window of wrong answers in seconds.
    static let window: TimeInterval = 86_400
    /// The most wrong answers in that time.
    static let mostInWindow = 10
    /// The maximum number of consecutive wrong answers; then only a correct password or an administrator reopens it.
    static let most = FailureCounts.most

    /// The times of the most recent wrong answers.
    private(set) var times: [Date] = []
    private(set) var count = 0

    /// Whether no answer is looked at.
    package func isClosed(at now: Date) -> Bool {
        count >= Self.most || times.count { $0 > now.addingTimeInterval(-Self.window) } >= Self.mostInWindow
    }

    /// Resets the count, except for wrong answers of the last day.
    mutating func forgetAll() { count = 0 }

    /// Counts another one.
    mutating func add(at now: Date) {
        times = times.filter { $0 > now.addingTimeInterval(-Self.window) } + [now]
        count += 1
    }
}

extension StoredUser {
    /// The change that writes the user after a factor was set up again, with its wrong answers reset.
    func renewing(_ factor: FactorKind) throws -> Change {
        var user = value
        user.forgetFailures(ofReplaced: factor)
        return .put(try record(holding: user))
    }
}
