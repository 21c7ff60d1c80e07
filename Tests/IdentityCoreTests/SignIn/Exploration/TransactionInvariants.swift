@testable import IdentityCore

/// The rule that a step violates.
struct Broken: Error {
    var text: String

    init(_ text: String) { self.text = text }
}

/// The rules that each step must follow, regardless of earlier steps.
enum TransactionInvariants {
    /// The effects of a step in addition to its outcome, from the ledger.
    struct Change {
        let changesPassword: Bool
        let keepsPassword: Bool
        let usesCode: Bool
        let enrolls: Bool

        init(from before: SignInLedger, to after: SignInLedger) {
            changesPassword = after.hasNewPassword && !before.hasNewPassword
            keepsPassword = after.keepsPassword && !before.keepsPassword
            usesCode = after.codes > before.codes
            enrolls = after.enrollments > before.enrollments
        }
    }

    static func check(
        _ before: SignInTransaction, _ after: SignInTransaction, _ outcome: SignInTransaction.Outcome, _ change: Change
    ) throws {
        let changesPassword = change.changesPassword
        if before.end != nil && after.end != before.end { throw Broken("an end is not final") }
        switch outcome {
        case .authenticated where after.end != .authenticated: throw Broken("a completed sign-in has no end")
        case .cancelled where after.end == nil: throw Broken("a cancelled sign-in has no end")
        case .tryAgain where before.rules.contains(.retriesFirstFactor) && before.proofs.isEmpty:
            if after != before { throw Broken("a mistyped name or password changed the sign-in") }
        case .tryAgain(let refusal) where refusal.code != .invalidGrant:
            if !before.rules.contains(.outlivesChallenges) && (before.rules.contains(.retriesFirstFactor) || before.proofs.isEmpty) {
                throw Broken("no factor can be tried again")
            }
            // The only effect of a denied or expired challenge is that its result was reported to the client.
            if after.end != nil || after.wrongAnswers != before.wrongAnswers || after.proofs != before.proofs {
                throw Broken("an unanswered challenge changed the sign-in")
            }
        case .tryAgain where after.end != nil || after.wrongAnswers != before.wrongAnswers + 1 || after.proofs.isEmpty:
            throw Broken("a wrong answer was not counted, or ended the sign-in")
        case .tryAgain where after.proofs != before.proofs: throw Broken("a wrong answer proved something")
        case .refused where after.end == nil: throw Broken("a refused sign-in has no end")
        case .pending, .tooLate, .judged(.invalid):
            if after != before { throw Broken("a step without effect changed the transaction") }
        case .judged(.denied(isSuspicious: true)) where after.end == .refused:
            // The user reported a replaced challenge as suspicious on the device.
            if before.end != nil || before.replacedChallenges == nil || after.challenge != before.challenge {
                throw Broken("a report without an open challenge ended the sign-in")
            }
        case .judged where before.challenge?.state != .pending: throw Broken("a challenge was answered twice")
        default: break
        }
        if before.userID != nil && after.userID != before.userID { throw Broken("the user of the sign-in changed") }
        let marksPassword = changesPassword || change.keepsPassword
        if marksPassword != (before.account != nil && before.end == nil && after.keepsPassword == true && before.keepsPassword != true) {
            throw Broken("the mark of a kept or changed password is wrong")
        }
        if !changesPassword && before.account != nil && after.account != before.account {
            throw Broken("the snapshot of the account changed")
        }
        let lasting = changesPassword ? Array(before.proofs.dropFirst(before.inherited)) : before.proofs
        if !after.proofs.starts(with: lasting) && after.proofs.count <= lasting.count { throw Broken("a proof was lost") }
        if let challenge = after.challenge {
            if challenge.expiresAt > after.expiresAt { throw Broken("a challenge expires after its sign-in") }
            if let old = before.challenge, old.state != .pending, old.targets == challenge.targets, old != challenge {
                throw Broken("a decision was changed")
            }
        } else if before.challenge != nil {
            throw Broken("a challenge was removed")
        }
        var same = after
        (same.userID, same.account, same.proofs, same.challenge) = (before.userID, before.account, before.proofs, before.challenge)
        same.origin = before.origin
        same.replacedChallenges = before.replacedChallenges
        (same.challengeCount, same.end, same.wrongAnswers) = (before.challengeCount, before.end, before.wrongAnswers)
        same.sentChallenges = before.sentChallenges
        same.inherited = before.inherited
        if marksPassword { same.keepsPassword = before.keepsPassword }
        if changesPassword { same.sessionID = before.sessionID }
        if change.enrolls { same.enrolledCount -= 1 }
        same.countedChallenge = before.countedChallenge
        same.reportedChallenge = before.reportedChallenge
        if same != before { throw Broken("a constant member of the sign-in changed") }
        if after.challengeTimes.count != after.challengeCount { throw Broken("the times of challenges are miscounted") }
        if after.challengeCount != before.challengeCount + (outcome == .challenged ? 1 : 0) { throw Broken("challenges are miscounted") }
    }

    static func check(
        _ effects: [SignInTransaction.Effect], _ outcome: SignInTransaction.Outcome, expectedUser: User?, _ change: Change
    ) throws {
        let written = effects.compactMap { effect -> User? in if case .writeUser(let user) = effect { user } else { nil } }
        if written != (expectedUser.map { [$0] } ?? []) {
            throw Broken("the users written are \(written), not \(String(describing: expectedUser))")
        }
        let used = effects.compactMap { effect -> Enrollment? in if case .writeEnrollment(let used) = effect { used } else { nil } }
        if used != (change.usesCode ? [ExploredInput.usedApp] : []) { throw Broken("the codes used up are \(used)") }
        let lines = effects.compactMap { effect -> LogEvent.Outcome? in if case .log(_, let outcome, _) = effect { outcome } else { nil } }
        let isLocking = expectedUser.map(ExploredPerson.hasLock) ?? false
        switch outcome {
        case .pending, .tooLate: if !lines.isEmpty { throw Broken("a step without effect was logged") }
        case .cancelled: break
        case .authenticated where change.changesPassword, .factorRequired where change.changesPassword:
            if lines != [.success, .success] { throw Broken("the log says \(lines)") }
        case .tryAgain(let refusal) where refusal.code != .invalidGrant:
            if ![[], [.denied]].contains(lines) { throw Broken("the log says \(lines)") }
        // The log has no line if the proofs are those of a session, because the step then proved nothing.
        case .enrollmentRequired: if ![[], [.success]].contains(lines) { throw Broken("the log says \(lines)") }
        case .recovering, .unlocked: throw Broken("there is no recovery")
        case .authenticated, .factorRequired, .enrollmentOffered, .setupOffered, .passwordDue, .challenged, .judged(.approved):
            if lines != [.success] { throw Broken("the log says \(lines)") }
        case .refused, .judged, .tryAgain:
            // A lock of the account has its own log event.
            if lines.last == .success || lines.count != (isLocking ? 2 : 1) { throw Broken("the log says \(lines)") }
        }
    }
}
