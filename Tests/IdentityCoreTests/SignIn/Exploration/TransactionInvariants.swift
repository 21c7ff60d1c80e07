@testable import IdentityCore

/// What a step broke, in words.
struct Broken: Error {
    var text: String

    init(_ text: String) { self.text = text }
}

/// What holds of each step, whatever came before.
enum TransactionInvariants {
    static func check(
        _ before: SignInTransaction, _ after: SignInTransaction, _ outcome: SignInTransaction.Outcome, changesPassword: Bool
    ) throws {
        if before.end != nil && after.end != before.end { throw Broken("an end is not final") }
        switch outcome {
        case .authenticated where after.end != .authenticated: throw Broken("tokens may be asked for again")
        case .cancelled where after.end == nil: throw Broken("a cancelled sign-in goes on")
        case .tryAgain where before.rules.contains(.retriesFirstFactor) && before.proofs.isEmpty:
            if after != before { throw Broken("a mistyped name or password left something behind") }
        case .tryAgain(let refusal) where refusal.code != .invalidGrant:
            if !before.rules.contains(.outlivesChallenges) && (before.rules.contains(.retriesFirstFactor) || before.proofs.isEmpty) {
                throw Broken("nothing is left to try again with")
            }
            // A question to the devices that came to nothing, which costs nobody anything.
            if after.end != nil || after.wrongAnswers != before.wrongAnswers || after.proofs != before.proofs {
                throw Broken("a question that came to nothing changed more than that it was told")
            }
        case .tryAgain where after.end != nil || after.wrongAnswers != before.wrongAnswers + 1 || after.proofs.isEmpty:
            throw Broken("who may try again cannot, or is not counted")
        case .tryAgain where after.proofs != before.proofs: throw Broken("a wrong answer proved something")
        case .refused where after.end == nil: throw Broken("a refused sign-in goes on")
        case .pending, .tooLate, .judged(.invalid):
            if after != before { throw Broken("something that changes nothing changed the transaction") }
        case .judged(.denied(isSuspicious: true)) where after.end == .refused:
            // A question that was replaced.
            if before.end != nil || before.replacedChallenges == nil || after.challenge != before.challenge {
                throw Broken("a report about no question ended the sign-in")
            }
        case .judged where before.challenge?.state != .pending: throw Broken("a challenge was answered twice")
        default: break
        }
        if before.userID != nil && after.userID != before.userID { throw Broken("it is about somebody else now") }
        if changesPassword != (before.account != nil && before.end == nil && after.keepsPassword == true && before.keepsPassword != true) {
            throw Broken("a change of the password is not noted")
        }
        if !changesPassword && before.account != nil && after.account != before.account {
            throw Broken("it forgot the account that it met")
        }
        let lasting = changesPassword ? Array(before.proofs.dropFirst(before.inherited)) : before.proofs
        if !after.proofs.starts(with: lasting) && after.proofs.count <= lasting.count { throw Broken("a proof was lost") }
        if let challenge = after.challenge {
            if challenge.expiresAt > after.expiresAt { throw Broken("a challenge outlives its sign-in") }
            if let old = before.challenge, old.state != .pending, old.targets == challenge.targets, old != challenge {
                throw Broken("a decision was changed")
            }
        } else if before.challenge != nil {
            throw Broken("a challenge was forgotten")
        }
        var same = after
        (same.userID, same.account, same.proofs, same.challenge) = (before.userID, before.account, before.proofs, before.challenge)
        same.origin = before.origin
        same.replacedChallenges = before.replacedChallenges
        (same.challengeCount, same.end, same.wrongAnswers) = (before.challengeCount, before.end, before.wrongAnswers)
        same.sentChallenges = before.sentChallenges
        same.inherited = before.inherited
        if changesPassword {
            same.keepsPassword = before.keepsPassword
            same.sessionID = before.sessionID
        }
        same.countedChallenge = before.countedChallenge
        same.reportedChallenge = before.reportedChallenge
        if same != before { throw Broken("what a sign-in is for changed") }
        if after.challengeTimes.count != after.challengeCount { throw Broken("the times of challenges are miscounted") }
        if after.challengeCount != before.challengeCount + (outcome == .challenged ? 1 : 0) { throw Broken("challenges are miscounted") }
    }

    static func check(
        _ effects: [SignInTransaction.Effect], _ outcome: SignInTransaction.Outcome, expectedUser: User?, usesCode: Bool,
        changesPassword: Bool
    ) throws {
        let written = effects.compactMap { effect -> User? in if case .writeUser(let user) = effect { user } else { nil } }
        if written != (expectedUser.map { [$0] } ?? []) {
            throw Broken("the users written are \(written), not \(String(describing: expectedUser))")
        }
        let used = effects.compactMap { effect -> Enrollment? in if case .writeEnrollment(let used) = effect { used } else { nil } }
        if used != (usesCode ? [ExploredInput.usedApp] : []) { throw Broken("the codes used up are \(used)") }
        let lines = effects.compactMap { effect -> LogEvent.Outcome? in if case .log(_, let outcome, _) = effect { outcome } else { nil } }
        let isLocking = expectedUser.map(ExploredPerson.hasLock) ?? false
        switch outcome {
        case .pending, .tooLate: if !lines.isEmpty { throw Broken("nothing happened, and the log says that something did") }
        case .cancelled: break
        case .authenticated where changesPassword, .factorRequired where changesPassword:
            if lines != [.success, .success] { throw Broken("the log says \(lines)") }
        case .tryAgain(let refusal) where refusal.code != .invalidGrant:
            if ![[], [.denied]].contains(lines) { throw Broken("the log says \(lines)") }
        case .recovering, .unlocked: throw Broken("nobody asked for a recovery")
        case .authenticated, .factorRequired, .enrollmentRequired, .enrollmentOffered, .passwordDue, .challenged, .judged(.approved):
            if lines != [.success] { throw Broken("the log says \(lines)") }
        case .refused, .judged, .tryAgain:
            // Locking an account is a line of its own.
            if lines.last == .success || lines.count != (isLocking ? 2 : 1) { throw Broken("the log says \(lines)") }
        }
    }
}
