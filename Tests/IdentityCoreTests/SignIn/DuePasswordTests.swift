import Foundation
import Testing

@testable import IdentityCore
@testable import SignInPages

@Suite("A sign-in with a password that is due")
struct DuePasswordTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let days: TimeInterval = 86_400

    /// A user whose password was set this many days ago and expires after ninety.
    private func subject(daysAgo: Double = 90, second: [FactorKind] = [], _ change: (inout SignInTransaction.Subject) -> Void = { _ in })
        -> SignInTransaction.Subject
    {
        var subject = SignInTransaction.Subject(
            user: User(id: "00u1", login: "jane", passwordHash: "old", createdAt: Self.now.addingTimeInterval(-daysAgo * Self.days)),
            decision: SignOnDecision(assurance: second.isEmpty ? .oneFactor : .twoFactors, reason: "rule"),
            passwordPolicy: PasswordPolicy(age: .init(maximumDays: 90, warningDays: 7, history: 2)), secondFactors: second,
            canChangePassword: true)
        change(&subject)
        return subject
    }

    private func transaction() -> SignInTransaction {
        let application = Application(id: "app", name: "App", kind: .native, signOnPolicy: "any")
        var transaction = SignInTransaction(
            id: "txn1", request: SignInRequest(application: application, server: nil, scopes: []), now: Self.now)
        transaction.rules = .pages
        return transaction
    }

    private func typed(_ subject: SignInTransaction.Subject) -> SignInTransaction.Input {
        .judged(.password, .knowledge, methods: ["pwd"], .proved(passwordHash: nil), subject)
    }

    @Test("An expired password stops the sign-in until a new one is set, which is stored with its date and history")
    func changed() throws {
        let subject = subject()
        let (due, outcome, _) = transaction().step(typed(subject), now: Self.now)
        #expect(outcome == .passwordDue(.expired) && due.end == nil)
        let later = Self.now.addingTimeInterval(30)
        let (after, end, effects) = due.step(.passwordChanged(hash: "new", subject), now: later)
        #expect(end == .authenticated(AuthenticationContext(userID: "00u1", time: Self.now, methods: ["pwd"])))
        #expect(after.end == .authenticated)
        guard case .writeUser(let user) = try #require(effects.first) else {
            Issue.record("\(effects)")
            return
        }
        #expect(user.passwordHash == "new" && user.passwordChangedAt == later && user.earlierPasswords == ["old"])
        // Other requests read the current account, and so does this one.
        #expect(after.account == .init(user))
    }

    @Test("A sign-in with an expired password asks for the second factor first")
    func secondFactorFirst() {
        let subject = subject(second: [.totp])
        let (first, outcome, _) = transaction().step(typed(subject), now: Self.now)
        #expect(outcome == .factorRequired([.totp]))
        #expect(first.step(.passwordChanged(hash: "new", subject), now: Self.now).1 == .refused(.overTransaction))
        let code = SignInTransaction.Input.judged(.totp, .possession, methods: ["otp"], .proved(passwordHash: nil), subject)
        #expect(first.step(code, now: Self.now).1 == .passwordDue(.expired))
    }

    @Test("An expired password is refused where it cannot be changed")
    func refused() {
        let subject = subject { $0.canChangePassword = false }
        let (after, outcome, _) = transaction().step(typed(subject), now: Self.now)
        #expect(outcome == .refused(.expiredPassword) && after.end == .refused)
    }

    @Test("A warning is shown only where the rules allow it, and the user can keep the password")
    func warned() {
        let silent = subject(daysAgo: 85)
        guard case .authenticated = transaction().step(typed(silent), now: Self.now).1 else {
            Issue.record("The client did not request a warning.")
            return
        }
        let subject = subject(daysAgo: 85) { $0.warnsOfPassword = true }
        let (due, outcome, _) = transaction().step(typed(subject), now: Self.now)
        #expect(outcome == .passwordDue(.endsSoon(days: 5)))
        guard case .authenticated = due.step(.passwordKept(subject), now: Self.now).1 else {
            Issue.record("a password that is good still may be kept")
            return
        }
        guard case .authenticated = due.step(.passwordChanged(hash: "new", subject), now: Self.now).1 else {
            Issue.record("it may be changed as well")
            return
        }
    }

    @Test("An expired password cannot be kept")
    func notKept() {
        let subject = subject { $0.warnsOfPassword = true }
        let (due, _, _) = transaction().step(typed(subject), now: Self.now)
        #expect(due.step(.passwordKept(subject), now: Self.now).1 == .refused(.overTransaction))
    }

    @Test("A new password is rejected before the old one is proved, after the end, for another account, and without a request")
    func notNow() {
        let subject = subject()
        func isRefused(_ transaction: SignInTransaction, _ subject: SignInTransaction.Subject, at now: Date = Self.now) -> Bool {
            let (_, outcome, effects) = transaction.step(.passwordChanged(hash: "new", subject), now: now)
            let writes = effects.contains { if case .writeUser = $0 { true } else { false } }
            return outcome == .refused(.overTransaction) && !writes
        }
        #expect(isRefused(transaction(), subject))
        let (due, _, _) = transaction().step(typed(subject), now: Self.now)
        #expect(isRefused(due, subject, at: due.expiresAt))
        #expect(isRefused(due.step(.cancelled, now: Self.now).0, subject))
        var other = subject
        other.user.setPasswordHash("set elsewhere", now: Self.now)
        #expect(isRefused(due, other))
        var locked = subject
        locked.user.lockedAt = Self.now
        #expect(isRefused(due, locked))
        let good = self.subject(daysAgo: 1)
        let (done, _, _) = transaction().step(typed(good), now: Self.now)
        #expect(isRefused(done, good))
    }

    @Test("A password change keeps no proofs of the sessions that it ends")
    func sessions() {
        var proof = SignInTransaction.Proof(
            factor: .password, factorClasses: [.knowledge], methods: ["pwd"], time: Self.now.addingTimeInterval(-60))
        var resumed = transaction()
        resumed.sessionID = "ses1"
        let (_, outcome, _) = resumed.step(.resumed([proof], subject(daysAgo: 90)), now: Self.now)
        guard case .authenticated = outcome else {
            Issue.record("the session was begun with a password that was good: \(outcome)")
            return
        }
        proof = .init(factor: .totp, factorClasses: [.possession], methods: ["otp"], time: Self.now.addingTimeInterval(-60))
        let subject = subject(second: [.totp])
        let (begun, _, _) = resumed.step(.resumed([proof], subject), now: Self.now)
        let (due, dueOutcome, _) = begun.step(typed(subject), now: Self.now)
        #expect(dueOutcome == .passwordDue(.expired))
        let (after, again, _) = due.step(.passwordChanged(hash: "new", subject), now: Self.now)
        #expect(again == .factorRequired([.totp]))
        #expect(after.proofs.map(\.factor) == [.password] && after.sessionID == nil && after.inherited == 0)
    }

    @Test("A client without pages gets an error after the second factor that says where to change the password")
    func direct() async throws {
        let org = try await SignInFixture { $0.passwordPolicy.age.maximumDays = 30 }
        #expect(try await org.signIn(at: 30 * Self.days - 1).context != nil)
        #expect(try await org.signIn(at: 30 * Self.days).refusal == .expiredPassword)
        // The response to a wrong password reveals nothing about the right one.
        #expect(
            try await org.signIn(SignInFixture.jane, "wrong-password", at: 30 * Self.days).refusal?.description
                == "The credentials provided were invalid.")
        try await org.enroll(.totp)
        #expect(try await org.signIn(to: "two", at: 30 * Self.days).refusal?.code == .mfaRequired)
    }
}
