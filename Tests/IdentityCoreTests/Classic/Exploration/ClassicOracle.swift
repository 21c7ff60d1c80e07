/// The moves of a classic API client from which the exploration chooses.
enum ClassicMove: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable, CaseIterable { case totp, sms, question }

    case signIn(isRight: Bool)
    case look
    case ask(Kind), prove(Kind, isRight: Bool), resend
    case enroll(Kind), activate(isRight: Bool), resendActivation
    case previous, skip, cancel
    case recover(isUnlock: Bool), recoveryCode(isRight: Bool), recoveryResend, recoveryAnswer(isRight: Bool)
    case resetPassword(isGood: Bool)

    /// Whether the move can send a message. The walk waits before such a move.
    var sends: Bool {
        switch self {
        case .ask(.sms), .resend, .enroll, .resendActivation, .recover, .recoveryResend: true
        default: false
        }
    }

    /// Whether the move is a wrong guess.
    var isWrong: Bool {
        switch self {
        case .signIn(isRight: false), .prove(_, isRight: false), .activate(isRight: false), .recoveryCode(isRight: false),
            .recoveryAnswer(isRight: false):
            true
        default: false
        }
    }

    static let all: [ClassicMove] =
        [.look, .resend, .resendActivation, .previous, .skip, .cancel, .recoveryResend]
        + Kind.allCases.flatMap { [.ask($0), .prove($0, isRight: true), .prove($0, isRight: false), .enroll($0)] }
        + [true, false].flatMap { flag -> [ClassicMove] in
            [
                .signIn(isRight: flag), .activate(isRight: flag), .recover(isUnlock: flag), .recoveryCode(isRight: flag),
                .recoveryAnswer(isRight: flag), .resetPassword(isGood: flag),
            ]
        }
}

/// A model of the classic API. It predicts the result of each move from the table in Documentation/Protocol/Authn.md §3.4, without any code
/// under test. Times are in seconds.
struct ClassicOracle {
    typealias Kind = ClassicMove.Kind

    /// The status of the sign-in.
    enum Place: Hashable {
        case nowhere, required, challenge(Kind), enroll(canSkip: Bool), activate(Kind), recoveryChallenge, recovery, reset
    }

    /// The number of wrong passwords, codes and answers that lock an account. It is greater than the number that ends one sign-in.
    static let lockout = 7

    // The user.
    var held: Set<Kind>
    /// Whether the user has signed in from this origin before. The wrong answers of a known origin are counted separately from those of
    /// unknown origins.
    private(set) var isKnown = false
    private var lockedForStrangers = false
    private var lockedHere = false
    private var failuresOfStrangers: [String: Int] = [:]
    private var failuresHere: [String: Int] = [:]
    /// The numbers of wrong answers after the password, by factor. They are from unknown origins, or to factors that the user never proved
    /// here.
    private var failuresAfterPassword: [String: Int] = [:]
    /// The factors that the user proved here in completed sign-ins.
    private var provedHere: Set<String> = []

    var isLocked: Bool { isKnown ? lockedHere : lockedForStrangers }
    private var failures: [String: Int] {
        get { isKnown ? failuresHere : failuresOfStrangers }
        set { if isKnown { failuresHere = newValue } else { failuresOfStrangers = newValue } }
    }
    private var lastStep: Int?
    // The sign-in.
    private(set) var place = Place.nowhere
    private(set) var begunAt = 0
    /// The expiry of the sign-in, unless a request extends it.
    private(set) var expiresAt = 0
    private var provedAt = 0
    private var wrong = 0
    private var hasSecondFactor = false
    private var enrolled = 0
    private var recovery: (isUnlock: Bool, isReal: Bool) = (false, false)
    /// The time of the code that was sent to the enrolled telephone; `nil` if no code is open.
    private var codeSentAt: Int?
    /// The time of the code that was sent to the telephone that is being enrolled; `nil` if no code is open.
    private var activationSentAt: Int?
    private var pendingUntil = 0
    /// The number of entered activation codes in this minute.
    private var tries: (minute: Int, count: Int) = (0, 0)
    /// The times of the wrong activation codes.
    private var wrongTries: [Int] = []
    /// The times of the wrong telephone codes since the last correct telephone code.
    private var wrongCodes: [Int] = []
    /// The times of the wrong recovery codes since the last correct recovery code.
    private var wrongRecoveries: [Int] = []
    /// The times of the wrong recovery codes, for any telephone, since the last time when ``openLocks()`` removed the locks.
    private var guessedCodes: [Int] = []
    let enrollsAll: Bool

    /// A limit of messages per hour, and the times of the messages.
    private struct Pace {
        let most: Int
        var times: [Int] = []

        mutating func admits(_ now: Int) -> Bool {
            times.removeAll { $0 <= now - 3_600 }
            guard times.count < most else { return false }
            times.append(now)
            return true
        }
    }
    private var knownPace = Pace(most: 8)
    private var anybodyPace = Pace(most: 4)
    private var namePace = Pace(most: 4)
    private var resendPace = Pace(most: 4)

    init(held: Set<Kind>, enrollsAll: Bool) { (self.held, self.enrollsAll) = (held, enrollsAll) }

    /// The name of the status; `nil` without a sign-in.
    var status: String? {
        switch place {
        case .nowhere: nil
        case .required: "MFA_REQUIRED"
        case .challenge: "MFA_CHALLENGE"
        case .enroll: "MFA_ENROLL"
        case .activate: "MFA_ENROLL_ACTIVATE"
        case .recoveryChallenge: "RECOVERY_CHALLENGE"
        case .recovery: "RECOVERY"
        case .reset: "PASSWORD_RESET"
        }
    }

    /// Ends the sign-in, or the activation of a factor, if it has expired at this time.
    mutating func wait(until now: Int) {
        if now >= expiresAt { place = .nowhere }
        if case .activate = place, now >= pendingUntil { place = .enroll(canSkip: enrolled > 0) }
    }

    /// Notes the expiry in an answer, and returns whether it is valid.
    ///
    /// Each request extends the sign-in to five minutes from now, but to at most an hour in total. The expiry can be up to a minute
    /// earlier, so that polls cause no writes.
    mutating func see(end: Int, at now: Int) -> Bool {
        let latest = min(now + 300, begunAt + 3_600)
        expiresAt = end
        return end <= latest && end > latest - 60
    }

    /// Returns the expected status, the expected error code, or `cancelled`.
    mutating func take(_ move: ClassicMove, at now: Int) -> String {
        switch move {
        case .signIn(let isRight): return signIn(isRight, now)
        case .recover(let isUnlock):
            begin(now)
            guard namePace.admits(now) else { return "E0000047" }
            resendPace.times = []
            recovery = (isUnlock, held.contains(.sms) && (!isUnlock || lockedForStrangers || lockedHere))
            // The response does not reveal whether a message was sent.
            sendRecoveryCode(now)
            place = .recoveryChallenge
            return "RECOVERY_CHALLENGE"
        default: break
        }
        guard let status else { return "E0000011" }
        switch move {
        case .look: return status
        case .cancel:
            place = .nowhere
            return "cancelled"
        case .previous:
            switch place {
            case .challenge: place = .required
            case .activate: place = .enroll(canSkip: enrolled > 0)
            default: return "E0000079"
            }
            return self.status ?? ""
        case .skip:
            guard place == .enroll(canSkip: true) else { return "E0000079" }
            return succeed()
        case .ask, .prove, .resend: return challenge(move, now)
        case .enroll, .activate, .resendActivation: return enroll(move, now)
        default: return recover(move, now)
        }
    }

    // MARK: - By password and factor

    private mutating func begin(_ now: Int) {
        (begunAt, expiresAt, wrong, enrolled, hasSecondFactor, codeSentAt) = (now, now + 300, 0, 0, false, nil)
        place = .nowhere
    }

    private mutating func signIn(_ isRight: Bool, _ now: Int) -> String {
        begin(now)
        if isLocked { return "LOCKED_OUT" }
        guard isRight else {
            fail("password", isFurther: false)
            return isLocked ? "LOCKED_OUT" : "E0000004"
        }
        forgetPasswords()
        provedAt = now
        return goOn()
    }

    private mutating func goOn() -> String {
        if !hasSecondFactor {
            place = held.isEmpty ? .enroll(canSkip: false) : .required
        } else if enrolled > 0, enrollsAll, held.count < Kind.allCases.count {
            place = .enroll(canSkip: true)
        } else {
            return succeed()
        }
        return status ?? ""
    }

    private mutating func succeed() -> String {
        place = .nowhere
        return "SUCCESS"
    }

    private mutating func fail(_ kind: String, isFurther: Bool) {
        failures[kind, default: 0] += 1
        if isKnown && isForeign(kind) { failuresOfStrangers[kind, default: 0] += 1 }
        if isFurther && (!isKnown || isForeign(kind)) { failuresAfterPassword[kind, default: 0] += 1 }
        let elsewhere = isFurther && (!isKnown || isForeign(kind)) ? failuresAfterPassword[kind] ?? 0 : 0
        if max(failures.values.reduce(0, +), elsewhere) >= Self.lockout { lock() }
    }

    private mutating func lock() { if isKnown { lockedHere = true } else { lockedForStrangers = true } }

    /// Whether the user has never proved this factor in a completed sign-in here.
    private func isForeign(_ kind: String) -> Bool { kind != "password" && !provedHere.contains(kind) }

    private mutating func forget(_ kind: String) {
        failures[kind] = nil
        guard !isKnown || isForeign(kind) else { return }
        (failuresOfStrangers[kind], failuresAfterPassword[kind]) = (nil, nil)
    }

    private mutating func forgetPasswords() {
        (failuresOfStrangers["password"], failuresHere["password"]) = (nil, nil)
    }

    /// Removes the locks, and the counts of wrong passwords and answers. The wrong codes of the telephone stay counted: otherwise an
    /// attacker who reads the text messages could guess without a limit.
    private mutating func openLocks() {
        forgetPasswords()
        forget("question")
        (lockedForStrangers, lockedHere, guessedCodes) = (false, false, [])
    }

    private mutating func challenge(_ move: ClassicMove, _ now: Int) -> String {
        switch place {
        case .required, .challenge: break
        default: return "E0000079"
        }
        switch move {
        case .ask(let kind):
            guard held.contains(kind) else { return "E0000007" }
            if kind == .sms {
                guard knownPace.admits(now) else { return "E0000047" }
                codeSentAt = now
            }
            place = .challenge(kind)
            return "MFA_CHALLENGE"
        case .resend:
            guard held.contains(.sms) else { return "E0000007" }
            guard place == .challenge(.sms) else { return "E0000079" }
            guard knownPace.admits(now) else { return "E0000047" }
            codeSentAt = now
            return "MFA_CHALLENGE"
        case .prove(let kind, let isRight):
            guard held.contains(kind) else { return "E0000007" }
            var refusal = "E0000068"
            var isProved = isRight
            if kind == .sms {
                // Five wrong codes lock the telephone until the code expires.
                guard wrongCodes.count(where: { $0 > now - 300 }) < 5 else { return "E0000047" }
                let isOpen = codeSentAt.map { now < $0 + 300 } ?? false
                isProved = isRight && isOpen
                wrongCodes = isProved ? [] : wrongCodes + (isOpen ? [now] : [])
            }
            if kind == .totp, isRight, let lastStep, now / 30 <= lastStep { (isProved, refusal) = (false, "E0000082") }
            guard isProved else {
                fail(kind.rawValue, isFurther: true)
                wrong += 1
                guard wrong < 5, !isLocked else {
                    place = .nowhere
                    return "E0000069"
                }
                return refusal
            }
            if kind == .sms { codeSentAt = nil }
            if kind == .totp { lastStep = now / 30 }
            forget(kind.rawValue)
            (hasSecondFactor, provedAt) = (true, now)
            defer { (isKnown, provedHere) = (true, provedHere.union(["password", kind.rawValue])) }
            return goOn()
        default: return "E0000079"
        }
    }

    // MARK: - Setting up

    private mutating func enroll(_ move: ClassicMove, _ now: Int) -> String {
        switch (move, place) {
        case (.enroll(let kind), .enroll(let canSkip)):
            // A security question alone does not count as a second factor that the policy can require.
            guard !held.contains(kind), kind != .question || canSkip else { return "E0000001" }
            guard now <= provedAt + 900 else { return "E0000011" }
            if kind == .question {
                held.insert(kind)
                enrolled += 1
                return goOn()
            }
            guard kind != .sms || knownPace.admits(now) else { return "E0000047" }
            place = .activate(kind)
            (tries, wrongTries, pendingUntil, activationSentAt) = ((0, 0), [], now + 600, now)
            return "MFA_ENROLL_ACTIVATE"
        case (.resendActivation, .activate(.sms)):
            guard knownPace.admits(now) else { return "E0000047" }
            (tries, wrongTries, pendingUntil, activationSentAt) = ((0, 0), [], now + 600, now)
            return "MFA_ENROLL_ACTIVATE"
        case (.activate(let isRight), .activate(let kind)):
            tries = (now / 60, tries.minute == now / 60 ? tries.count + 1 : 1)
            wrongTries.removeAll { $0 <= now - 300 }
            guard tries.count <= 5, wrongTries.count < 5 else { return "E0000047" }
            let isOpen = kind == .totp || activationSentAt.map { now < $0 + 300 } ?? false
            guard isRight, isOpen else {
                if kind == .sms, isOpen { wrongTries.append(now) }
                return "E0000068"
            }
            held.insert(kind)
            if kind == .totp { lastStep = now / 30 }
            enrolled += 1
            (hasSecondFactor, provedAt) = (true, now)
            return goOn()
        default: return "E0000079"
        }
    }

    // MARK: - Without the password

    /// Whether ten wrong codes in a day have locked the recovery.
    private func isRecoveryClosed(_ now: Int) -> Bool {
        wrongRecoveries.count(where: { $0 > now - 86_400 }) >= 10 || guessedCodes.count(where: { $0 > now - 86_400 }) >= 10
    }

    private mutating func sendRecoveryCode(_ now: Int) {
        if recovery.isReal, !isRecoveryClosed(now), anybodyPace.admits(now) { codeSentAt = now }
    }

    private mutating func recover(_ move: ClassicMove, _ now: Int) -> String {
        switch (move, place) {
        case (.recoveryCode(let isRight), .recoveryChallenge):
            let isOpen = recovery.isReal && !isRecoveryClosed(now) && codeSentAt.map { now < $0 + 300 } ?? false
            guard isRight, isOpen else {
                if isOpen {
                    wrongRecoveries.append(now)
                    guessedCodes.append(now)
                }
                return countWrong("E0000068")
            }
            (codeSentAt, wrongRecoveries) = (nil, [])
            guard !held.contains(.question) else {
                place = .recovery
                return "RECOVERY"
            }
            return recovered()
        case (.recoveryResend, .recoveryChallenge):
            guard resendPace.admits(now) else { return "E0000047" }
            sendRecoveryCode(now)
            return "RECOVERY_CHALLENGE"
        case (.recoveryAnswer(let isRight), .recovery):
            if isRight { return recovered() }
            fail("question", isFurther: false)
            return countWrong("E0000087")
        case (.resetPassword(let isGood), .reset):
            guard isGood else { return "E0000080" }
            openLocks()
            (wrong, provedAt) = (0, now)
            return goOn()
        default: return "E0000079"
        }
    }

    private mutating func countWrong(_ code: String) -> String {
        wrong += 1
        guard wrong >= 5 else { return code }
        place = .nowhere
        return "E0000069"
    }

    private mutating func recovered() -> String {
        guard recovery.isUnlock else {
            place = .reset
            return "PASSWORD_RESET"
        }
        openLocks()
        return succeed()
    }
}
