internal import Foundation

/// Consecutive wrong answers of one group of callers.
struct FailureCounts: Sendable, Equatable, Codable {
    /// Wrong answers with which a sign-in began, by factor.
    var first: [String: Int] = [:]
    /// Wrong answers after another factor was proved, by factor.
    var further: [String: Int] = [:]
    /// When the last of them locked the account for these callers; `nil` if it did not, or the lock was opened.
    var lockedAt: Date?

    /// The most consecutive wrong answers to one factor; then no answer counts any more (NIST SP 800-63B section 5.2.2).
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

    /// What counts towards the next lock: all wrong answers, except to factors that are closed and so can't be guessed any more.
    var total: Int { [first, further].flatMap(\.values).filter { $0 < Self.most }.reduce(0, +) }

    /// Whether too many wrong answers closed a factor for good. A password policy without lockout never closes the password.
    func isClosed(_ factor: FactorKind, isFurther: Bool, policy: PasswordPolicy) -> Bool {
        self[factor, isFurther: isFurther] >= Self.most && (factor != .password || policy.lockoutAttempts > 0)
    }

    /// The factors of which some wrong answers closed the way.
    var closed: Set<FactorKind> {
        Set([first, further].flatMap { $0.filter { $0.value >= Self.most }.keys }.map(FactorKind.init))
    }

    /// Whether a lock stands at a moment.
    func isLocked(policy: PasswordPolicy, now: Date) -> Bool {
        guard let lockedAt else { return false }
        guard let time = policy.lockTime(failures: total) else { return true }
        return now < lockedAt.addingTimeInterval(time)
    }

    /// Adds the counts of an origin that is forgotten. Codes that were never right there are counted here already.
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

    /// Forgets the wrong answers to a factor.
    mutating func forget(_ factor: FactorKind) {
        self[factor, isFurther: false] = 0
        self[factor, isFurther: true] = 0
    }
}

extension PasswordPolicy {
    /// Seconds of the first locks in a row.
    static let lockTimes: [TimeInterval] = [30, 60, 120, 300, 900]

    /// Seconds that a lock lasts: longer with each further wrong answer, up to ``lockoutMinutes``.
    ///
    /// - Parameter failures: The consecutive wrong answers, the one that locked among them.
    /// - Returns: `nil` for a lock that stays.
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

    /// Changes the counts of all callers.
    private mutating func changeCounts(_ change: (inout FailureCounts) -> Void) {
        for callers in allCallers { change(&self[callers]) }
    }

    /// Whether wrong answers locked the account for requests from an origin.
    func isLocked(for origin: RequestOrigin, policy: PasswordPolicy, now: Date) -> Bool {
        self[callers(from: origin)].isLocked(policy: policy, now: now)
    }

    /// Whether a right factor lets the user go on. Elsewhere a right answer must not do more work than a wrong one.
    func isOpen(to origin: RequestOrigin, policy: PasswordPolicy, now: Date) -> Bool {
        status == .active && !isLocked(for: origin, policy: policy, now: now)
    }

    /// Whether wrong answers locked the account for any callers; also if that lock is over, and nobody signed in since.
    var hasLock: Bool { allCallers.contains { self[$0].lockedAt != nil } }

    /// Removes a lock that is over.
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

    /// Forgets all wrong answers and opens all locks: an administrator unlocks the account.
    mutating func forgetMistakes() {
        changeCounts { $0 = FailureCounts() }
        guessedAnswers = nil
        guessedCodes = nil
    }

    /// Opens all locks and forgets wrong passwords, by a recovery or a new password. Wrong codes stay counted: whoever reads the user's
    /// mail could guess them without end.
    mutating func openLocks() {
        changeCounts {
            $0.lockedAt = nil
            $0.forget(.password)
        }
    }

    /// Forgets the wrong answers to a factor that was set up anew.
    mutating func forgetFailures(ofReplaced factor: FactorKind) { changeCounts { $0.forget(factor) } }

    /// The consequence of a wrong answer.
    enum Consequence: Equatable {
        case none
        /// The account is locked for these callers; the number of wrong answers that led to it.
        case locked(Int)
        /// The factor is closed for these callers, until it is opened.
        case closed
    }

    /// The counts that wrong answers to a factor belong to.
    ///
    /// Whoever knows the password makes any address known by it. So codes that were never right there are counted with those of all
    /// others, too: the attacker gets no new attempts by moving to another address.
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

    /// Whether no answer to the security question is looked at. Wrong answers count together wherever they were given, as a factor or in
    /// recoveries, and from whichever origin: several endpoints must not allow more guesses than one.
    func isQuestionClosed(at now: Date) -> Bool { guessedAnswers?.isClosed(at: now) == true }

    /// Counts a wrong answer.
    ///
    /// - Returns: The consequence. Of a lock that stood already, ``Consequence/none``.
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
        // After a password, what was guessed elsewhere counts towards the lock here. Without one, strangers could lock the owner here.
        let elsewhere = isFurther ? groups.map { self[$0][factor, isFurther: true] }.max() ?? 0 : 0
        let total = max(self[callers].total, elsewhere)
        if policy.lockoutAttempts > 0, total >= policy.lockoutAttempts { self[callers].lockedAt = now }
        if !wasClosed, isClosed(factor, to: callers, isFurther: isFurther, policy: policy) { return .closed }
        return self[callers].lockedAt == now && !wasLocked ? .locked(total) : .none
    }

    /// Forgets the wrong answers that a right one ends: those of its own factor and its own callers. Wrong codes of other callers stay
    /// counted, because six digits are guessed sooner or later if each sign-in of the owner allows more guesses. Wrong passwords are
    /// forgotten for all callers.
    mutating func forgetFailures(of factor: FactorKind, from callers: Callers = .others) {
        for group in counted(factor, from: callers) { self[group].forget(factor) }
        guard factor == .password else {
            if factor == .question { guessedAnswers = nil }
            return
        }
        changeCounts { $0.forget(.password) }
        // Whoever knows the password has no need to guess. The limit of a day stays.
        guessedAnswers?.forgetAll()
        guessedCodes?.forgetAll()
    }

    /// Notes a completed sign-in: its origin is known from then on, and something that the user has opens the factors that wrong answers
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
struct RecoveryGuesses: Sendable, Equatable, Codable {
    /// Seconds in which so many wrong answers close the way.
    static let window: TimeInterval = 86_400
    /// The most wrong answers in that time.
    static let mostInWindow = 10
    /// The most consecutive wrong answers; then only a right password or an administrator opens the way again.
    static let most = FailureCounts.most

    /// The times of the last ones.
    private(set) var times: [Date] = []
    private(set) var count = 0

    /// Whether no answer is looked at.
    func isClosed(at now: Date) -> Bool {
        count >= Self.most || times.count { $0 > now.addingTimeInterval(-Self.window) } >= Self.mostInWindow
    }

    /// Counts anew, except for those of the last day.
    mutating func forgetAll() { count = 0 }

    /// Counts another one.
    mutating func add(at now: Date) {
        times = times.filter { $0 > now.addingTimeInterval(-Self.window) } + [now]
        count += 1
    }
}

extension StoredUser {
    /// The change that writes the user with a factor that was set up anew, whose wrong answers are forgotten.
    func renewing(_ factor: FactorKind) throws -> Change {
        var user = value
        user.forgetFailures(ofReplaced: factor)
        return .put(try record(holding: user))
    }
}
